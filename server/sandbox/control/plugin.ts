import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { ControlProblem, problemBody } from "./problem.ts";
import type { ControlParts } from "./routes.ts";
import { registerControlRoutes } from "./routes.ts";

const bodyLimitBytes = 16 * 1024;

function asProblem(error: FastifyError | ControlProblem): ControlProblem {
  if (error instanceof ControlProblem) return error;
  if (error.statusCode === 413) return new ControlProblem(413, "body_too_large", "That is more than this endpoint takes.");
  if (error.statusCode === 415) return new ControlProblem(415, "unsupported_media_type", "Send JSON or a form.");
  if (error.statusCode !== undefined && error.statusCode < 500) return new ControlProblem(400, "invalid_json", error.message);
  return new ControlProblem(500, "internal_error", "The sandbox failed; its log says why.");
}

/** Answers an error of the control surface, or of an address that nobody serves. */
export function answerProblem(error: FastifyError | ControlProblem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = asProblem(error);
  if (problem.statusCode === 500) request.log.error({ error }, "the sandbox failed");
  return reply.code(problem.statusCode).type("application/problem+json").send(problemBody(problem));
}

/** The sandbox's control surface. */
export function createControlPlugin(parts: ControlParts): FastifyPluginAsync {
  return async (instance) => {
    instance.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: bodyLimitBytes },
      (_request, body, done) => {
        done(null, Object.fromEntries(new URLSearchParams(body.toString())));
      },
    );
    instance.get("/healthz", async () => ({ status: "ok" }));
    registerControlRoutes(instance, parts);
  };
}
