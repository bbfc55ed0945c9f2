import type { FastifyReply, FastifyRequest } from "fastify";
import type { Session } from "../../contract/auth.ts";
import { authRoutes as contract } from "../../contract/auth.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import type { Caller } from "./service.ts";
import { confirmEmail, resendConfirmation, signIn, signUp } from "./service.ts";
import type { SignIn } from "./sessions.ts";
import { endSession, refreshSession } from "./sessions.ts";
import { accessTokenSeconds, signAccessToken } from "./tokens.ts";

function callerOf(request: FastifyRequest): Caller {
  return { ip: request.ip, userAgent: request.headers["user-agent"] };
}

/** Exactly the fields of spec §3. */
function presentSession(app: App, { user, sessionId, refreshToken }: SignIn): Session {
  return {
    access_token: signAccessToken(app, { sub: user.id, sid: sessionId }),
    refresh_token: refreshToken,
    expires_at: Math.floor(Date.now() / 1_000) + accessTokenSeconds,
    expires_in: accessTokenSeconds,
    token_type: "bearer",
    user: { id: user.id, email: user.email, user_metadata: { avatar_url: user.avatar_url } },
  };
}

/** Tokens are nobody's to keep but the caller's. */
async function forbidStoring(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header("cache-control", "no-store");
}

const checkEmailAnswer = { status: "check_email" } as const;

/** For a public scope of an application that registerTokens has prepared. */
export function authRoutes(deps: Deps): Routes {
  return async (app) => {
    app.post("/api/auth/sign-up", { schema: contract["POST /api/auth/sign-up"], onRequest: forbidStoring }, async (request, reply) => {
      const { email, password, language } = request.body;
      await signUp(deps, { email, password, language });
      return reply.code(202).send(checkEmailAnswer);
    });
    app.post(
      "/api/auth/resend-confirmation",
      { schema: contract["POST /api/auth/resend-confirmation"], onRequest: forbidStoring },
      async (request, reply) => {
        await resendConfirmation(deps, request.body);
        return reply.code(202).send(checkEmailAnswer);
      },
    );
    app.post("/api/auth/confirm", { schema: contract["POST /api/auth/confirm"], onRequest: forbidStoring }, async (request) =>
      presentSession(app, await confirmEmail(deps, request.body, callerOf(request))),
    );
    app.post("/api/auth/sign-in", { schema: contract["POST /api/auth/sign-in"], onRequest: forbidStoring }, async (request) =>
      presentSession(app, await signIn(deps, request.body, callerOf(request))),
    );
    app.post("/api/auth/refresh", { schema: contract["POST /api/auth/refresh"], onRequest: forbidStoring }, async (request) =>
      presentSession(app, await refreshSession(deps, request.body.refresh_token)),
    );
    app.post("/api/auth/sign-out", { schema: contract["POST /api/auth/sign-out"], onRequest: forbidStoring }, async (request, reply) => {
      await endSession(deps, request.body.refresh_token);
      return reply.code(204).send(null);
    });
  };
}
