/** The whole API with the built client and a provider that echoes, and a subscriber whose every text is hostile. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { v7 as uuidv7 } from "uuid";
import type { Session } from "#contract/auth/sign-in.ts";
import type { FileInfo } from "#contract/files.ts";
import { attachmentLimits } from "#domain/attachments.ts";
import { conversationLimits, tidyTitle } from "#domain/conversations.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { freePort } from "#server/embedded/processes.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import type { Traps } from "#tests/support/browser-traps.ts";
import { setTraps } from "#tests/support/browser-traps.ts";
import { buildClient } from "#tests/support/client-build.ts";
import type { EchoProvider } from "#tests/support/echo-provider.ts";
import { startEchoProvider } from "#tests/support/echo-provider.ts";
import { full } from "#tests/support/full.ts";
import type { HostileText } from "#tests/support/hostile-texts.ts";
import { hostileTexts } from "#tests/support/hostile-texts.ts";
import { giveCredits, subscribe } from "#tests/support/people.ts";
import type { AuthApp } from "../server/auth-support.ts";
import { createAuthApp } from "../server/auth-support.ts";

/** The texts of one class have the same beginning of their names. */
const classOf = ({ name }: HostileText) => name.split(":")[0] ?? "";

export const byClass = (texts: readonly HostileText[]) => [...Map.groupBy(texts, classOf)];

/** The number of the day, by which the tests choose. */
export const today = Math.floor(Date.now() / 86_400_000);

/** `count` texts of each class, other ones each day. */
export function some(count: number): readonly HostileText[] {
  return byClass(hostileTexts).flatMap(([, texts]) =>
    Array.from({ length: count }, (_, index) => texts[(today * count + index) % texts.length] as HostileText),
  );
}

/** The texts that are asked, answered, mailed and exported: every fourth of each class, always the same; `npm run test:full` has all. */
export const asked = full ? hostileTexts : byClass(hostileTexts).flatMap(([, texts]) => texts.filter((_, index) => index % 4 === 0));

export interface HostileWorld {
  product: AuthApp;
  provider: EchoProvider;
  browser: Browser;
  /** The product's address. */
  url: string;
  session: Session;
  close(): Promise<void>;
}

export async function openWorld(): Promise<HostileWorld> {
  await buildClient();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = await startEchoProvider();
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-hostile-"));
  const product = await createAuthApp({ ...provider.environment, PUBLIC_URL: url, STORAGE_DIR: folder });
  await product.app.listen({ host: "127.0.0.1", port });
  const browser = await sharedBrowser();
  const session = await product.join();
  await inTransaction(product.db, (trx) => giveCredits(trx, session.user.id, 10_000));
  await subscribe(product.db, session.user.id, "enterprise");
  return {
    product,
    provider,
    browser,
    url,
    session,
    async close() {
      await product.close();
      provider.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface Reader {
  page: Page;
  context: BrowserContext;
  traps: Traps;
}

/** A browser with traps, in which the subscriber is signed in, or somebody else. */
export async function openReader({ browser, url, session: own }: HostileWorld, { worker = false, session = own } = {}): Promise<Reader> {
  const context = await browser.newContext({
    serviceWorkers: worker ? "allow" : "block",
    locale: "en-GB",
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    storageState: { cookies: [], origins: [{ origin: url, localStorage: [{ name: "session", value: JSON.stringify(session) }] }] },
  });
  const traps = await setTraps(context, url);
  return { page: await context.newPage(), context, traps };
}

/** The plan's limit of requests a minute, with room for the pages. */
const askedAtOnce = 80;

/** Asks each of these texts in one conversation, answered by itself; resolves with the conversation's id. */
export async function askEverything({ product, session }: HostileWorld): Promise<string> {
  let conversationId: string | undefined;
  for (const [index, { name, text }] of asked.entries()) {
    if (index % askedAtOnce === 0) await product.asOwner("update generations set asked_at = asked_at - interval '2 minutes'");
    const answer = await product.post(
      "/api/generations",
      { model: "gpt-6-luna", prompt: text, quotedCredits: 1, ...(conversationId ? { conversationId } : {}) },
      { headers: { authorization: `Bearer ${session.access_token}`, "idempotency-key": randomUUID() } },
    );
    if (!answer.body.includes('"status":"completed"')) throw new Error(`${name}: ${answer.statusCode} ${answer.body.slice(-500)}`);
    conversationId ??= /"conversationId":"([^"]+)"/.exec(answer.body)?.[1];
  }
  await product.asOwner("update generations set asked_at = asked_at - interval '2 minutes'");
  return conversationId ?? "";
}

/** Asks with files that have these texts as names, and gives each answer sources with the same texts. */
export async function askWithFiles(
  { product, session }: HostileWorld,
  texts: readonly HostileText[],
): Promise<{ conversationId: string; names: string[] }> {
  const authorization = `Bearer ${session.access_token}`;
  const names: string[] = [];
  let conversationId: string | undefined;
  for (let from = 0; from < texts.length; from += attachmentLimits.files) {
    const those = texts.slice(from, from + attachmentLimits.files);
    const attachments: string[] = [];
    for (const { name, text } of those) {
      const url = `/api/files?name=${encodeURIComponent(text.toWellFormed())}`;
      const answer = await product.app.inject({ method: "POST", url, headers: { authorization }, payload: `The file for ${name}` });
      if (answer.statusCode !== 201) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`);
      const file = answer.json<FileInfo>();
      attachments.push(file.id);
      names.push(file.name);
    }
    const prompt = "What is in these?";
    const request = { model: "gpt-6-luna", prompt, quotedCredits: 1, attachments, ...(conversationId ? { conversationId } : {}) };
    const answer = await product.post("/api/generations", request, { headers: { authorization, "idempotency-key": randomUUID() } });
    if (!answer.body.includes('"status":"completed"')) throw new Error(answer.body.slice(-500));
    conversationId ??= /"conversationId":"([^"]+)"/.exec(answer.body)?.[1];
    const generationId = /"generationId":"([^"]+)"/.exec(answer.body)?.[1];
    const sources = those.flatMap(({ text }) => [
      { mark: null, url: text, title: null, date: text },
      { mark: null, url: `https://example.com/${names.length}?${text}`, title: text, date: null },
    ]);
    await product.db
      .insertInto("generation_parts")
      .values({ generation_id: generationId ?? "", place: 1_000, kind: "sources", text: null, detail: JSON.stringify({ sources }) })
      .execute();
  }
  return { conversationId: conversationId ?? "", names };
}

/** Sends the team a message for each text, with it as sender, subject and message. Resolves with the number of messages. */
export async function writeToTeam({ product }: HostileWorld, texts: readonly HostileText[]): Promise<number> {
  let sent = 0;
  for (const { name, text } of texts) {
    const payload = {
      ...{ name: text.slice(0, 100), email: `writer${sent}@example.com`, category: "support", subject: text.slice(0, 150) },
      ...{ message: `${text}\n\nThis is a message about ${name}.`, website: "", language: "en" },
    };
    const answer = await product.app.inject({
      ...{ method: "POST", url: "/api/contact", payload, remoteAddress: `198.51.${sent % 250}.7` },
      headers: { "idempotency-key": randomUUID() },
    });
    if (answer.statusCode >= 300) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`);
    sent += 1;
  }
  return sent;
}

/** The title that is stored, cut to the longest length. */
export const titleOf = (text: string) => [...tidyTitle(text)].slice(0, conversationLimits.titleMax).join("");

/** A conversation with each hostile text as its title. */
export async function insertTitles({ product, session }: HostileWorld): Promise<void> {
  const at = new Date(Date.now() - 60_000);
  const rows = hostileTexts.map(({ text }) => ({
    id: uuidv7(),
    user_id: session.user.id,
    title: titleOf(text),
    created_at: at,
    updated_at: at,
  }));
  await product.db.insertInto("conversations").values(rows).execute();
}

/** Few enough that the page lists all of them. */
export const namedLikeTexts = hostileTexts.filter(({ name }) => /^(html|mutations|templates):/.test(name));

/** Inserts a sign-in for each of these texts, with it as the name of browser and time zone. */
export async function insertSessions({ product, session }: HostileWorld): Promise<void> {
  const mold = await product.db.selectFrom("auth_sessions").selectAll().where("user_id", "=", session.user.id).executeTakeFirstOrThrow();
  const rows = namedLikeTexts.map(({ text }) => ({
    ...mold,
    id: randomUUID(),
    token_hash: Buffer.from(randomUUID()),
    user_agent: `${text} Chrome/1 Windows`.slice(0, 250),
    time_zone: `Europe/${text}`.slice(0, 60),
  }));
  await product.db.insertInto("auth_sessions").values(rows).execute();
}
