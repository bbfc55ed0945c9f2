/**
 * Limits the requests of each network, against floods. With Redis the processes share their counts. How many answers a person
 * may ask for is a limit of the plan, checked in the database.
 */
import rateLimit from "@fastify/rate-limit";
import { Redis } from "ioredis";
import { DomainError } from "#domain/errors.ts";
import type { Config } from "../config.ts";
import type { Settings } from "../settings.ts";
import type { App } from "./app-type.ts";
import { clientNetwork, clientSite, siteShare } from "./client-network.ts";
import { silentRedisMs } from "./live-events.ts";
import { addRateLimit } from "./rate-limit-fields.ts";

function tooMany(waitMs: number): DomainError {
  return new DomainError("rate_limited", "Too many requests. Wait a moment", { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
}

export async function registerRateLimits(
  app: App,
  { config, settings }: { config: Pick<Config, "redisUrl">; settings: Settings },
): Promise<void> {
  const redis = config.redisUrl
    ? new Redis(config.redisUrl, {
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        connectTimeout: silentRedisMs,
        socketTimeout: silentRedisMs,
      })
    : undefined;
  let counting = true;
  redis?.on("close", () => {
    if (counting) app.log.warn("Redis does not answer: requests are not rate-limited until it is back");
    counting = false;
  });
  redis?.on("ready", () => {
    counting = true;
  });
  redis?.on("error", () => {});
  await app.register(rateLimit, {
    global: true,
    max: () => settings.current.requestsPerMinute,
    timeWindow: "1 minute",
    // The address is missing if the caller has already disconnected.
    keyGenerator: (request) => clientNetwork(request.ip ?? "gone"),
    // While Redis is down we answer without counting, rather than refuse everybody.
    skipOnError: true,
    ...(redis ? { redis } : {}),
    // Compare the route and not the address, which may contain escapes ("/%61pi/…").
    allowList: (request) => {
      const route = request.routeOptions.url ?? "";
      return !/^\/(api|avatars)\//.test(route) || route.startsWith("/api/sandbox/") || route === "/api/stripe/webhook";
    },
    errorResponseBuilder: (_request, context) => tooMany(context.ttl),
  });
  // The limits of auth calls are added to the same fields (rate-limit-fields.ts).
  app.addHook("onSend", async (_request, reply) => {
    const [quota, remaining, resetSeconds] = ["limit", "remaining", "reset"].map((name) => Number(reply.getHeader(`x-ratelimit-${name}`)));
    if (quota && remaining !== undefined && resetSeconds !== undefined)
      addRateLimit(reply, { name: "requests", quota, windowSeconds: 60, remaining, resetSeconds });
  });
  const countSite = app.createRateLimit({
    max: () => settings.current.requestsPerMinute * siteShare,
    keyGenerator: (request) => clientSite(clientNetwork(request.ip)) ?? "",
  });
  app.addHook("onRequest", async (request) => {
    if (clientSite(clientNetwork(request.ip ?? "gone")) === undefined) return;
    const limit = await countSite(request);
    if (!limit.isAllowed && limit.isExceeded) throw tooMany(limit.ttl);
  });
  app.addHook("onClose", async () => redis?.disconnect());
}
