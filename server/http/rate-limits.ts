/** A ceiling per address against floods; what a person may spend is the tier's limit, kept in the database. Shared through Redis where there is one. */
import rateLimit from "@fastify/rate-limit";
import { Redis } from "ioredis";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import type { App } from "./app-type.ts";
import { clientNetwork } from "./client-network.ts";

const requestsPerMinute = 600;

export async function registerRateLimits(app: App, config: Pick<Config, "redisUrl">): Promise<void> {
  const redis = config.redisUrl
    ? new Redis(config.redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0, connectTimeout: 1_000 })
    : undefined;
  redis?.on("error", () => {});
  await app.register(rateLimit, {
    global: true,
    max: requestsPerMinute,
    timeWindow: "1 minute",
    // A caller who has gone already has no address left.
    keyGenerator: (request) => clientNetwork(request.ip ?? "gone"),
    // Redis away: counted by nobody rather than answered to nobody.
    skipOnError: true,
    ...(redis ? { redis } : {}),
    // By the route that was found, for an address may be written with escapes ("/%61pi/…").
    allowList: (request) => {
      const route = request.routeOptions.url ?? "";
      return !route.startsWith("/api/") || route.startsWith("/api/sandbox/") || route === "/api/stripe/webhook";
    },
    errorResponseBuilder: (_request, context) =>
      new DomainError("rate_limited", "Too many requests. Wait a moment", { retryAfterSeconds: Math.ceil(context.ttl / 1000) }),
  });
  app.addHook("onClose", async () => redis?.disconnect());
}
