/** Before a dangerous act the person shows a factor again (server/http/viewer.ts, features/auth/step-up.ts). */
import Fastify from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { stepUpMs } from "#domain/periods.ts";
import { createReadViewer } from "#server/features/auth/viewer.ts";
import type { App } from "#server/http/app-type.ts";
import { registerProblems } from "#server/http/problem.ts";
import { signedInScope, steppedUpScope, viewerOf } from "#server/http/viewer.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
let guarded: App;
let session: Session;

/** The scopes as the product has them, around one dangerous and one harmless route. */
beforeAll(async () => {
  product = await createAuthApp();
  guarded = Fastify({ logger: false }) as never;
  registerProblems(guarded);
  const routes = [
    steppedUpScope([async (app) => void app.get("/dangerous", async (request) => viewerOf(request).userId)]),
    async (app: App) => void app.get("/harmless", async () => "done"),
  ];
  await guarded.register(signedInScope(createReadViewer(product.app, product.deps), routes));
});
afterAll(async () => {
  await guarded.close();
  await product.close();
});
beforeEach(async () => {
  session = await product.join();
});

const headersOf = ({ access_token }: Session) => ({ authorization: `Bearer ${access_token}` });
const visit = (url: string, by = session) => guarded.inject({ method: "GET", url, headers: headersOf(by) });
const prove = (secret: string, by = session) => product.post("/api/account/step-up", { password: secret }, { headers: headersOf(by) });

/** Pretends that everybody showed their factor this long ago. */
async function age(milliseconds: number): Promise<void> {
  await product.db
    .updateTable("auth_sessions")
    .set({ proved_at: new Date(Date.now() - milliseconds) })
    .execute();
}

describe("a dangerous act", () => {
  test("needs a factor shown within ten minutes; signing in is one; others are not asked", async () => {
    expect((await visit("/dangerous")).body).toBe(session.user.id);
    await age(stepUpMs + 1_000);
    const refused = await visit("/dangerous");
    expect([refused.statusCode, refused.json().code]).toEqual([403, "step_up_required"]);
    expect((await visit("/harmless")).statusCode).toBe(200);
    expect((await prove(password)).statusCode).toBe(204);
    expect((await visit("/dangerous")).statusCode).toBe(200);
  });

  test("isn't allowed by a factor shown in another sign-in of the same person, or by refreshing", async () => {
    await age(stepUpMs + 1_000);
    const other = (await product.signIn(session.user.email)).json<Session>();
    expect((await visit("/dangerous", other)).statusCode).toBe(200);
    expect((await visit("/dangerous")).json().code).toBe("step_up_required");
    const refreshed = await product.post("/api/auth/refresh", { refresh_token: session.refresh_token });
    expect((await visit("/dangerous", refreshed.json<Session>())).json().code).toBe("step_up_required");
  });

  test("isn't allowed by an access token whose successor is in use, as somebody's copy of it may be", async () => {
    const refreshed = (await product.post("/api/auth/refresh", { refresh_token: session.refresh_token })).json<Session>();
    expect((await visit("/dangerous")).statusCode).toBe(200);
    expect((await visit("/dangerous", refreshed)).statusCode).toBe(200);
    expect((await visit("/dangerous")).json().code).toBe("step_up_required");
    expect((await visit("/harmless")).statusCode).toBe(200);
  });

  test("needs a sign-in first", async () => {
    expect((await guarded.inject({ method: "GET", url: "/dangerous" })).json().code).toBe("unauthenticated");
  });
});

test("only the ways that a person has are offered and accepted", async () => {
  const offered = await product.get("/api/account/step-up", session.access_token);
  expect(offered.json()).toEqual({ ways: ["password"] });
  const headers = headersOf(session);
  expect((await product.post("/api/account/step-up", { code: "123456" }, { headers })).json().code).toBe("wrong_code");
  for (const proof of [{}, { password, code: "123456" }, { toString: "x" }])
    expect((await product.post("/api/account/step-up", proof, { headers })).json().code).toBe("validation_failed");
});

describe("showing a password", () => {
  test("that is wrong changes nothing, says so without ending the session, and has to wait after five tries", async () => {
    await age(stepUpMs + 1_000);
    for (let count = 0; count < 5; count += 1) {
      const refused = await prove("wrong pass 1");
      expect([refused.statusCode, refused.json().code]).toEqual([403, "wrong_password"]);
    }
    const waiting = await prove(password);
    expect([waiting.statusCode, waiting.json().code]).toEqual([429, "too_many_attempts"]);
    expect(waiting.headers["retry-after"]).toBeDefined();
    expect((await visit("/dangerous")).json().code).toBe("step_up_required");
    // Neither another sign-in of the person nor the sign-in page has to wait.
    const other = await product.signIn(session.user.email);
    expect(other.statusCode).toBe(200);
    expect((await prove(password, other.json<Session>())).statusCode).toBe(204);
  });

  test("in a sign-in that has ended is refused", async () => {
    await product.post("/api/auth/sign-out", { refresh_token: session.refresh_token });
    expect((await prove(password)).statusCode).toBe(401);
  });
});
