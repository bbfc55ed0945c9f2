/** The responses of the calls that sign somebody in. */
import type { FastifyReply } from "fastify";
import type { Session, SignedIn } from "../../contract/auth/sign-in.ts";
import type { App } from "../../http/app-type.ts";
import type { BrowserMemory } from "./browser-memory.ts";
import type { Caller } from "./callers.ts";
import type { SignInOutcome } from "./complete-sign-in.ts";
import type { SignIn } from "./sessions.ts";
import { accessTokenSeconds, signAccessToken } from "./tokens.ts";

/** Exactly the fields of spec §3, and the person's name if they have given one. */
export function presentSession(app: App, { user, sessionId, refreshToken, counter }: SignIn): Session {
  return {
    access_token: signAccessToken(app, { sub: user.id, sid: sessionId, cnt: counter }),
    refresh_token: refreshToken,
    expires_at: Math.floor(Date.now() / 1_000) + accessTokenSeconds,
    expires_in: accessTokenSeconds,
    token_type: "bearer",
    user: {
      id: user.id,
      email: user.email,
      user_metadata: { avatar_url: user.avatar_url, ...(user.name === null ? {} : { name: user.name }) },
    },
  };
}

/** Returns the session and remembers the browser. If the person still has to show a factor or decide something, returns that instead. */
export function handOut(
  app: App,
  reply: FastifyReply,
  { browser, caller }: { browser: BrowserMemory; caller: Caller },
  outcome: SignInOutcome,
): SignedIn {
  if ("token" in outcome) {
    browser.keepPending(reply, caller);
    if ("methods" in outcome) return { status: "factor_needed", ...outcome };
    return { status: "deletion_pending", token: outcome.token, deleteAt: outcome.deleteAt.toISOString() };
  }
  browser.keepDevice(reply, caller, outcome.user);
  return presentSession(app, outcome);
}
