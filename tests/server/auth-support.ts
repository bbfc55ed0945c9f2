/** The real application on a database of its own, and what a person does with it to sign in. */
import { randomUUID } from "node:crypto";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import type { Session } from "#contract/auth.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

export const password = "a tessera 4 two";

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
  /** The tokens mailed to an address, oldest first: one for each confirmation mail. */
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
    post,
    mailedTokens,
    templatesTo,
    get: (path: string, accessToken?: string) =>
      app.inject({ method: "GET", url: path, headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` } }),
    async confirmLast(email: string): Promise<LightMyRequestResponse> {
      return post("/api/auth/confirm", { token: (await mailedTokens(email)).at(-1) ?? "" });
    },
    /** Signs up, opens the mailed link, and is signed in. */
    async join(email = `person-${randomUUID()}@example.com`): Promise<Session> {
      await post("/api/auth/sign-up", { email, password });
      return post("/api/auth/confirm", { token: (await mailedTokens(email)).at(-1) ?? "" }).then((answer) => answer.json<Session>());
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
