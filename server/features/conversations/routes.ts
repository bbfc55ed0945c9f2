import { conversationRoutes as contracts } from "../../contract/conversations.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import type { Answers } from "../generations/answers.ts";
import { deleteConversation, findGone, listConversations, readConversation, searchConversations, updateConversation } from "./service.ts";

const defaultPage = 30;

/** `answers` are those of this process: deleting a conversation stops the answers that are running in it. */
export function conversationRoutes(deps: Deps, answers: Answers): Routes {
  return async (app) => {
    app.get("/api/conversations", { schema: contracts["GET /api/conversations"] }, async (request) => {
      const { cursor, limit } = request.query;
      return listConversations(deps.db, viewerOf(request).userId, cursor, limit ?? defaultPage);
    });
    app.get("/api/conversations/search", { schema: contracts["GET /api/conversations/search"] }, async (request) => {
      const { query, cursor } = request.query;
      return searchConversations(deps.db, viewerOf(request).userId, query, cursor);
    });
    app.patch("/api/conversations/:id", { schema: contracts["PATCH /api/conversations/:id"] }, async (request) =>
      updateConversation(deps, viewerOf(request).userId, request.params.id, request.body),
    );
    app.get("/api/conversations/:id", { schema: contracts["GET /api/conversations/:id"] }, async (request) =>
      readConversation(deps.db, viewerOf(request).userId, request.params.id, request.query.before),
    );
    app.post("/api/conversations/gone", { schema: contracts["POST /api/conversations/gone"] }, async (request) => ({
      gone: await findGone(deps.db, viewerOf(request).userId, request.body.ids),
    }));
    app.delete("/api/conversations/:id", { schema: contracts["DELETE /api/conversations/:id"] }, async (request, reply) => {
      await deleteConversation(deps, answers, viewerOf(request).userId, request.params.id);
      return reply.code(204).send(null);
    });
  };
}
