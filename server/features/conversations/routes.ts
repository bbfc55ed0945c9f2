import { generationRoutes as contracts } from "../../contract/generations.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import type { Answers } from "../generations/answers.ts";
import { deleteConversation, listConversations, readConversation } from "./service.ts";

const defaultPage = 30;

/** `answers` of this process, so that deleting a conversation stops what is still being written in it. */
export function conversationRoutes(deps: Deps, answers: Answers): Routes {
  return async (app) => {
    app.get("/api/conversations", { schema: contracts["GET /api/conversations"] }, async (request) => {
      const { cursor, limit } = request.query;
      return listConversations(deps.db, viewerOf(request).userId, cursor, limit ?? defaultPage);
    });
    app.get("/api/conversations/:id", { schema: contracts["GET /api/conversations/:id"] }, async (request) =>
      readConversation(deps.db, viewerOf(request).userId, request.params.id),
    );
    app.delete("/api/conversations/:id", { schema: contracts["DELETE /api/conversations/:id"] }, async (request, reply) => {
      await deleteConversation(deps, answers, viewerOf(request).userId, request.params.id);
      return reply.code(204).send(null);
    });
  };
}
