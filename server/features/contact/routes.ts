import type { FastifyRequest } from "fastify";
import { contactRoutes as contract } from "../../contract/contact.ts";
import type { Deps } from "../../deps.ts";
import { acceptedLanguages } from "../../http/accepted-languages.ts";
import type { Routes } from "../../http/app-type.ts";
import { optionalViewerOf } from "../../http/viewer.ts";
import type { Sender } from "./service.ts";
import { receiveMessage } from "./service.ts";

function senderOf(request: FastifyRequest): Sender {
  return {
    ip: request.ip,
    userId: optionalViewerOf(request)?.userId,
    acceptedLanguages: acceptedLanguages(request.headers["accept-language"]),
  };
}

export function contactRoutes(deps: Deps): Routes {
  return async (app) => {
    app.post("/api/contact", { schema: contract["POST /api/contact"] }, async (request, reply) => {
      const id = await receiveMessage(deps, request.body, senderOf(request), request.headers["idempotency-key"]);
      return reply.code(202).send({ id });
    });
    app.post(
      "/api/functions/send-contact-email",
      { schema: contract["POST /api/functions/send-contact-email"] },
      async (request, reply) => {
        const id = await receiveMessage(deps, request.body, senderOf(request), request.headers["idempotency-key"]);
        return reply.code(202).send({ id });
      },
    );
  };
}
