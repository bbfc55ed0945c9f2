import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { problemPage } from "./page.ts";
import type { PageSources } from "./page-routes.ts";
import { registerPageRoutes, sendPage } from "./page-routes.ts";
import { ControlProblem, problemBody } from "./problem.ts";
import { registerControlRoutes } from "./routes.ts";

const bodyLimitBytes = 16 * 1024;

function asProblem(error: FastifyError | ControlProblem): ControlProblem {
  if (error instanceof ControlProblem) return error;
  if (error.statusCode === 413) return new ControlProblem(413, "body_too_large", "The request is too large.");
  if (error.statusCode === 415) return new ControlProblem(415, "unsupported_media_type", "Send JSON or a form.");
  if (error.statusCode !== undefined && error.statusCode < 500) return new ControlProblem(400, "invalid_json", error.message);
  return new ControlProblem(500, "internal_error", "The sandbox failed; its log says why.");
}

/** Answers an error of a control endpoint, or a request to an unknown address: with a page for people, with a problem for scripts. */
export function problemAnswerer(productUrl: URL) {
  return (error: FastifyError | ControlProblem, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const problem = asProblem(error);
    if (problem.statusCode === 500) request.log.error({ error }, "the sandbox failed");
    const body = problemBody(problem);
    reply.code(problem.statusCode);
    if (request.headers.accept?.includes("text/html") === true) return sendPage(reply, problemPage(productUrl, body.title, body.detail));
    return reply.type("application/problem+json").send(body);
  };
}

/** The sandbox's control page, and the endpoints that the page and scripts use. */
export function createControlPlugin(sources: PageSources): FastifyPluginAsync {
  return async (instance) => {
    instance.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: bodyLimitBytes },
      (_request, body, done) => {
        done(null, Object.fromEntries(new URLSearchParams(body.toString())));
      },
    );
    instance.get("/healthz", async () => ({ status: "ok" }));
    registerControlRoutes(instance, sources);
    registerPageRoutes(instance, sources);
  };
}
