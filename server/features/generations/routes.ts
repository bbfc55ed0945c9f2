import { setImmediate as untilOthersWent } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import { generationRoutes as contracts } from "../../contract/generations/generations.ts";
import { mediaRoutes } from "../../contract/generations/media-routes.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import type { Feed } from "../../http/event-stream.ts";
import { sendFeed } from "../../http/event-stream.ts";
import type { HeldConnections } from "../../http/held-connections.ts";
import type { Viewer } from "../../http/viewer.ts";
import { viewerOf } from "../../http/viewer.ts";
import { entitlementOf } from "../billing/entitlement.ts";
import type { Answers } from "./answers.ts";
import { listPictures } from "./gallery.ts";
import { followAnswer, readAnswer, readSound, startAnswer, stopAnswer } from "./service.ts";
import { createVoiceSamples } from "./voice-samples.ts";

const sampleLimit = { max: 100, timeWindow: "1 minute" };

export function generationRoutes(deps: Deps, answers: Answers, held: HeldConnections): Routes {
  const samples = createVoiceSamples(deps);

  /**
   * Takes one of the person's places for streams before it looks for the feed. Otherwise many requests at once could all find the last
   * place free, and we would ask a model although its stream has no place. The stream is cut when the sign-in ends; the answer itself continues.
   */
  async function stream(request: FastifyRequest, reply: FastifyReply, after: number, find: (viewer: Viewer) => Promise<Feed>) {
    const viewer = viewerOf(request);
    if (!held.hasRoomFor(viewer)) throw new DomainError("rate_limited", "Too many open streams", { retryAfterSeconds: 10 });
    const release = held.hold(viewer, () => reply.raw.destroy());
    reply.raw.once("close", release);
    try {
      const feed = await find(viewer);
      // Other requests of this moment ask their models first. While the models work there is time to send what we know already.
      await untilOthersWent();
      if (reply.raw.destroyed) release();
      sendFeed(reply, feed, after);
    } catch (error) {
      release();
      throw error;
    }
  }

  return async (app) => {
    // Must run before the server waits for its open requests, because streams end only when their answers do.
    app.addHook("preClose", () => answers.close());

    const asking = { schema: contracts["POST /api/generations"], config: { freeIfFailed: true } };
    app.post("/api/generations", asking, async (request, reply) => {
      const idempotencyKey = request.headers["idempotency-key"];
      await stream(request, reply, 0, ({ userId, entitling }) => {
        const ask = { userId, idempotencyKey, request: request.body };
        return startAnswer(deps, answers, ask, entitlementOf(entitling, deps.clock.now()));
      });
    });
    app.get("/api/generations/:id", { schema: contracts["GET /api/generations/:id"] }, async (request) =>
      readAnswer(deps.db, viewerOf(request).userId, request.params.id),
    );
    app.get("/api/generations/:id/events", { schema: contracts["GET /api/generations/:id/events"] }, async (request, reply) => {
      const after = Number(request.headers["last-event-id"] ?? 0);
      await stream(request, reply, after, ({ userId }) => followAnswer(deps, answers, userId, request.params.id, after));
    });
    app.get("/api/generations/:id/sound", { schema: mediaRoutes["GET /api/generations/:id/sound"] }, async (request) => ({
      answer: await readSound(deps.db, viewerOf(request).userId, request.params.id),
    }));
    const sampleOptions = { schema: mediaRoutes["GET /api/voices/:model/:voice/sample"], config: { rateLimit: sampleLimit } };
    app.get("/api/voices/:model/:voice/sample", sampleOptions, async (request, reply) => {
      const { model, voice } = request.params;
      const sound = await samples(viewerOf(request).userId, model, voice);
      return reply.header("content-type", "audio/mpeg").header("cache-control", "private, max-age=86400").send(Buffer.from(sound));
    });
    app.get("/api/pictures", { schema: mediaRoutes["GET /api/pictures"] }, async (request) =>
      listPictures(deps.db, viewerOf(request).userId, request.query),
    );
    app.post("/api/generations/:id/stop", { schema: contracts["POST /api/generations/:id/stop"] }, async (request) =>
      stopAnswer(deps, answers, viewerOf(request).userId, request.params.id),
    );
  };
}
