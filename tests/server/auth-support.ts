/** Runs the real application on its own database, with helpers to sign up and sign in. */
import { randomInt, randomUUID } from "node:crypto";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import type { Session } from "#contract/auth/sign-in.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

export const password = "a tessera 4 two";

/** A random IPv4 address: real users have different addresses. */
export function randomAddress(): string {
  return `10.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(255)}`;
}

/** The Cookie header that a browser sends after these responses. */
export function cookiesOf(...answers: LightMyRequestResponse[]): { cookie: string } {
  const set = answers.flatMap((answer) => answer.headers["set-cookie"] ?? []);
  return { cookie: set.map((cookie) => cookie.split(";", 1)[0]).join("; ") };
}

export type AuthApp = Awaited<ReturnType<typeof createAuthApp>>;

export async function createAuthApp(variables: NodeJS.ProcessEnv = {}) {
  const database = await createTestDatabase();
  const own = { PUBLIC_URL: "http://tessera.test", ADMIN_EMAILS: "owner@example.com" };
  const config = readConfig(testEnvironment(database, { ...own, ...variables }));
  const deps = createDeps(config, "test");
  const app = await buildApp(deps);
  await app.ready();

  async function post(path: string, body: object, options: Partial<InjectOptions> = {}): Promise<LightMyRequestResponse> {
    return app.inject({ method: "POST", url: path, payload: body, ...options });
  }
  /** The confirmation tokens mailed to an address, oldest first. */
  async function mailedTokens(email: string): Promise<string[]> {
    const mails = await database.db
      .selectFrom("mails")
      .select("parameters")
      .where("recipient", "=", email)
      .where("template", "=", "confirm-email")
      .orderBy("id")
      .execute();
    return mails.map((mail) => linkToken(config, String(mail.parameters.linkId)));
  }
  async function templatesTo(email: string): Promise<string[]> {
    const mails = await database.db.selectFrom("mails").select("template").where("recipient", "=", email).orderBy("id").execute();
    return mails.map((mail) => mail.template);
  }
  return {
    app,
    config,
    deps,
    db: database.db,
    asOwner: database.asOwner,
    post,
    mailedTokens,
    templatesTo,
    get: (path: string, accessToken?: string) =>
      app.inject({ method: "GET", url: path, headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` } }),
    /** Opens the newest link in a browser other than the one that signed up, and enters the password. */
    async confirmLast(email: string, secret = password): Promise<LightMyRequestResponse> {
      return post("/api/auth/confirm", { token: (await mailedTokens(email)).at(-1) ?? "", password: secret });
    },
    /** Signs up and opens the mailed link in the same browser; resolves with the session. */
    async join(email = `person-${randomUUID()}@example.com`, remoteAddress = randomAddress()): Promise<Session> {
      const signedUp = await post("/api/auth/sign-up", { email, password }, { remoteAddress });
      const token = (await mailedTokens(email)).at(-1) ?? "";
      return post("/api/auth/confirm", { token }, { headers: cookiesOf(signedUp), remoteAddress }).then((answer) => answer.json<Session>());
    },
    async signIn(email: string, secret = password): Promise<LightMyRequestResponse> {
      return post("/api/auth/sign-in", { email, password: secret });
    },
    async close(): Promise<void> {
      await app.close();
      await deps.close();
      await database.drop();
    },
  };
}
