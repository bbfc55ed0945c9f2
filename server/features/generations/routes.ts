import { generationRoutes as contracts } from "../../contract/generations.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { sendFeed } from "../../http/event-stream.ts";
import { viewerOf } from "../../http/viewer.ts";
import type { Answers } from "./answers.ts";
import { followAnswer, readReceipt, startAnswer, stopAnswer } from "./service.ts";

export function generationRoutes(deps: Deps, answers: Answers): Routes {
  return async (app) => {
    // Before the server waits for requests under way to end, which streams do only when their answers have.
    app.addHook("preClose", () => answers.close());

    app.post("/api/generations", { schema: contracts["POST /api/generations"] }, async (request, reply) => {
      const feed = await startAnswer(deps, answers, {
        userId: viewerOf(request).userId,
        idempotencyKey: request.headers["idempotency-key"],
        request: request.body,
      });
      sendFeed(reply, feed, 0);
    });
    app.get("/api/generations/:id", { schema: contracts["GET /api/generations/:id"] }, async (request) =>
      readReceipt(deps.db, viewerOf(request).userId, request.params.id),
    );
    app.get("/api/generations/:id/events", { schema: contracts["GET /api/generations/:id/events"] }, async (request, reply) => {
      const feed = await followAnswer(deps, answers, viewerOf(request).userId, request.params.id);
      sendFeed(reply, feed, Number(request.headers["last-event-id"] ?? 0));
    });
    app.post("/api/generations/:id/stop", { schema: contracts["POST /api/generations/:id/stop"] }, async (request) =>
      stopAnswer(deps, answers, viewerOf(request).userId, request.params.id),
    );
  };
}
