/** The migration that takes address and password out of a person's row keeps everybody's account, on the way up and down. */
import { randomUUID } from "node:crypto";
import { hash } from "@node-rs/argon2";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { migrationNames } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { createDeps } from "#server/deps.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { hashToken } from "#server/http/secret-keys.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { full } from "#tests/support/full.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

async function asOwner<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Migrates to the schema before this one. */
async function goBack(): Promise<void> {
  const names = await migrationNames();
  const before = names[names.findIndex((name) => name.endsWith("_identities")) - 1];
  await migrate({ ownerUrl: database.ownerUrl, applicationRole, downTo: before ?? "none" });
}

const goUp = () => migrate({ ownerUrl: database.ownerUrl, applicationRole });

/** A link as the previous release wrote it, of a sign-up with that hash. */
async function mailLink(userId: string, passwordHash: string, signUpId: string, usedAt: Date | null = null): Promise<string> {
  const id = randomUUID();
  await asOwner(
    `insert into email_links (id, user_id, purpose, token_hash, password_hash, sign_up_id, expires_at, used_at, created_at)
       values ($1, $2, 'confirm', $3, $4, $5, now() + interval '1 day', $6, now())`,
    [id, userId, hashToken(linkToken(config, id)), passwordHash, signUpId, usedAt],
  );
  return linkToken(config, id);
}

/** A person as the previous release wrote them; without a password: one who has not confirmed their address. */
async function insertPerson(email: string, password?: string): Promise<string> {
  const rows = await asOwner<{ id: string }>(
    `insert into users (email, mailbox_key, email_verified_at, password_hash, language, created_at)
       values ($1, $1, case when $2::text is not null then now() end, $2, 'pl', now()) returning id`,
    [email, password === undefined ? null : await hash(password)],
  );
  return rows[0]?.id ?? "";
}

const config = readConfig(testEnvironment({ applicationUrl: "postgres://app@127.0.0.1/none" }));

test.runIf(full)(
  "people sign in with their passwords after it, waiting links open, and on the way down both are as they were",
  async () => {
    await goUp();
    await goBack();
    const ada = await insertPerson("ada@example.com", "adas own pass 1");
    const opened = await mailLink(ada, await hash("adas own pass 1"), randomUUID(), new Date());
    await asOwner("insert into wallets (user_id, created_at) values ($1, now())", [ada]);
    const grace = await insertPerson("grace+alias@example.com");
    const [gracesHash, signUpId] = [await hash("graces pass 2"), randomUUID()];
    await mailLink(grace, gracesHash, signUpId);
    const again = await mailLink(grace, gracesHash, signUpId);
    const strangers = await mailLink(grace, await hash("strangers pass 3"), randomUUID());
    await insertPerson("never-mailed@example.com");
    const people = () => asOwner("select id, email, email_verified_at, password_hash, language, created_at from users order by email");
    const links = () => asOwner("select id, user_id, password_hash, expires_at, used_at from email_links order by id");
    const before = { people: await people(), links: await links() };

    await goUp();
    await goBack();
    // What nothing could come of is gone. An unconfirmed account is made anew, under another id.
    const emails = (rows: Awaited<ReturnType<typeof people>>) => rows.map(({ id: _, ...rest }) => rest);
    const after = { people: await people(), links: await links() };
    expect(emails(after.people)).toEqual(emails(before.people).filter(({ email }) => email !== "never-mailed@example.com"));
    expect(after.people.find(({ email }) => email === "ada@example.com")?.id).toBe(ada);
    const graceNow = after.people.find(({ email }) => email === "grace+alias@example.com")?.id;
    const withoutSpent = (rows: Awaited<ReturnType<typeof links>>) => rows.filter(({ used_at }) => used_at === null);
    expect(withoutSpent(after.links)).toEqual(withoutSpent(before.links).map((link) => ({ ...link, user_id: graceNow })));
    expect(after.links).toHaveLength(before.links.length);
    expect(await asOwner("select mailbox_key from users order by email")).toEqual([
      { mailbox_key: "ada@example.com" },
      { mailbox_key: "grace@example.com" },
    ]);

    await goUp();
    const deps = createDeps(readConfig(testEnvironment(database)), "test");
    const app = await buildApp(deps);
    const post = async (path: string, payload: object) => app.inject({ method: "POST", url: `/api/auth/${path}`, payload });
    try {
      const signedIn = await post("sign-in", { email: "ada@example.com", password: "adas own pass 1" });
      expect(signedIn.json().user).toMatchObject({ id: ada, email: "ada@example.com" });
      expect((await post("link", { token: opened })).json()).toEqual({ email: "ada@example.com", state: "used" });
      expect((await post("link", { token: again })).json()).toEqual({ email: "grace+alias@example.com", state: "password" });
      expect((await post("confirm", { token: strangers, password: "graces pass 2" })).json()).toMatchObject({
        code: "invalid_credentials",
      });
      expect((await post("confirm", { token: again, password: "graces pass 2" })).statusCode).toBe(200);
      expect((await post("sign-in", { email: "grace+alias@example.com", password: "graces pass 2" })).statusCode).toBe(200);
      expect((await post("confirm", { token: strangers, password: "strangers pass 3" })).json()).toMatchObject({ code: "link_invalid" });
      expect(await asOwner("select language from users order by id")).toEqual([{ language: "pl" }, { language: "pl" }]);
    } finally {
      await app.close();
      await deps.close();
    }
  },
);
