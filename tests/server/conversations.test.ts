import { randomUUID } from "node:crypto";
import type { CompiledQuery } from "kysely";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Conversation, ConversationSummary, FoundConversation, MessagePart } from "#contract/conversations.ts";
import type { Database } from "#server/db/types.ts";
import { selectConversations, selectSlice } from "#server/features/conversations/queries.ts";
import { readLedger } from "#server/features/credits/history.ts";
import type { AnswerWorld } from "#tests/support/answers.ts";
import { ask, askAndHold, call, startAnswerWorld } from "#tests/support/answers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  Plans?: Plan[];
}

let world: AnswerWorld;
let database: AnswerWorld["database"];
let models: AnswerWorld["models"];
let api: AnswerWorld["api"];

beforeAll(async () => {
  world = await startAnswerWorld();
  ({ database, models, api } = world);
  models.pace.milliseconds = 0;
});
afterAll(() => world.close());

async function list(person: TestPerson, query = ""): Promise<{ conversations: ConversationSummary[]; nextCursor: string | null }> {
  return (await (await call(api, person, "GET", `/api/conversations${query}`)).json()) as {
    conversations: ConversationSummary[];
    nextCursor: string | null;
  };
}

async function read(person: TestPerson, id: string): Promise<Conversation> {
  return (await (await call(api, person, "GET", `/api/conversations/${id}`)).json()) as Conversation;
}

const textOf = (parts: readonly MessagePart[]) => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

test("a conversation's title is its first line, cut at 80 characters; its messages come in order with their receipts", async () => {
  const person = await createPerson(api, database.db);
  const first = await ask(api, person, { prompt: `${"😀".repeat(90)}\nsecond line` });
  const second = await ask(api, person, { prompt: "Go on", conversationId: first.conversationId });
  const conversation = await read(person, first.conversationId);
  expect(conversation.title).toBe("😀".repeat(80));
  expect(conversation.streamingGenerationId).toBeNull();
  expect(conversation.messages.map(({ role, parts, receipt }) => [role, textOf(parts), receipt])).toEqual([
    ["user", `${"😀".repeat(90)}\nsecond line`, null],
    ["assistant", first.text, first.receipt],
    ["user", "Go on", null],
    ["assistant", second.text, second.receipt],
  ]);
});

test("a conversation is read a hundred messages at a time, the newest first, none twice and none left out", async () => {
  const [person, other] = [await createPerson(api, database.db), await createPerson(api, database.db)];
  const { conversationId } = await ask(api, person);
  await database.pool.query(
    `insert into messages (id, conversation_id, role, content, created_at)
      select uuidv7(interval '1 minute' * n), $1, 'user', 'Question ' || n, now() from generate_series(1, 248) n`,
    [conversationId],
  );
  const page = async (before: string | null) =>
    (await (
      await call(api, person, "GET", `/api/conversations/${conversationId}${before === null ? "" : `?before=${before}`}`)
    ).json()) as Conversation;
  const newest = await page(null);
  const pages = [newest.messages];
  for (let before = newest.earlierThan; before !== null; ) {
    const earlier = await page(before);
    pages.unshift(earlier.messages);
    before = earlier.earlierThan;
  }
  expect(pages.map(({ length }) => length)).toEqual([50, 100, 100]);
  const { rows } = await database.pool.query("select id from messages where conversation_id = $1 order by id", [conversationId]);
  expect(pages.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect((await call(api, person, "GET", `/api/conversations/${conversationId}?before=x`)).status).toBe(400);
  expect((await call(api, other, "GET", `/api/conversations/${conversationId}?before=${newest.earlierThan}`)).status).toBe(404);
});

test("an answer that failed before its first word has its receipt and no parts", async () => {
  const person = await createPerson(api, database.db);
  models.faults.set({ model: "*", fault: "server_error", count: 2, afterTokens: 0, delayMs: 0 });
  const failed = await ask(api, person);
  const { messages } = await read(person, failed.conversationId);
  expect(messages.map(({ role, parts, receipt }) => [role, parts.length, receipt])).toEqual([
    ["user", 1, null],
    ["assistant", 0, failed.receipt],
  ]);
});

test("pages list conversations latest first, without gaps or duplicates", async () => {
  const person = await createPerson(api, database.db, { plan: "enterprise" });
  const ids: string[] = [];
  for (let count = 0; count < 7; count += 1) ids.unshift((await ask(api, person, { prompt: `Question ${count}` })).conversationId);
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await list(person, `?limit=3${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.conversations.map((conversation) => conversation.id));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(ids);
  await ask(api, person, { conversationId: ids[6] ?? "" });
  expect((await list(person)).conversations[0]?.id).toBe(ids[6]);
  for (const bad of ["x", "MjAyNi0wMS0wMQ", "%00"])
    expect((await call(api, person, "GET", `/api/conversations?cursor=${bad}`)).status).toBe(400);
  expect((await call(api, person, "GET", "/api/conversations?limit=0")).status).toBe(400);
});

test("the wallet's history names the conversation in which credits were spent, until it is deleted", async () => {
  const person = await createPerson(api, database.db);
  const { conversationId } = await ask(api, person);
  const history = async () =>
    (await readLedger(database.db, person.userId, undefined, 10)).lines.map((line) => [line.kind, line.conversationId]);
  expect((await history())[0]).toEqual(["capture", conversationId]);
  expect((await history()).slice(1)).toEqual([["grant", null]]);
  await call(api, person, "DELETE", `/api/conversations/${conversationId}`);
  expect((await history())[0]).toEqual(["capture", null]);
});

test("deleting a conversation first stops its running answer, whose receipt stays", async () => {
  const person = await createPerson(api, database.db);
  const begun = await askAndHold(models, api, person);
  expect((await read(person, begun.conversationId)).streamingGenerationId).toBe(begun.generationId);
  expect((await call(api, person, "DELETE", `/api/conversations/${begun.conversationId}`)).status).toBe(204);
  expect((await call(api, person, "GET", `/api/conversations/${begun.conversationId}`)).status).toBe(404);
  expect(await (await call(api, person, "GET", `/api/generations/${begun.generationId}`)).json()).toMatchObject({
    status: "stopped",
    chargedCredits: 1,
    parts: [],
  });
  expect((await list(person)).conversations).toEqual([]);
  models.pace.milliseconds = 0;
});

describe("one's own conversations", () => {
  const patch = (person: TestPerson, id: string, body: unknown) =>
    fetch(`${api.url}/api/conversations/${id}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${person.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const search = async (person: TestPerson, query: string, cursor = "") => {
    const response = await call(
      api,
      person,
      "GET",
      `/api/conversations/search?query=${encodeURIComponent(query)}${cursor && `&cursor=${cursor}`}`,
    );
    return (await response.json()) as { found: FoundConversation[]; nextCursor: string | null };
  };
  const titles = (conversations: readonly ConversationSummary[]) => conversations.map(({ title }) => title);

  test("can be given a title of 1 to 120 code points on one line; another person's are not found", async () => {
    const [person, stranger] = [await createPerson(api, database.db), await createPerson(api, database.db)];
    const { conversationId } = await ask(api, person, { prompt: "First" });
    expect(await (await patch(person, conversationId, { title: "  Mortar\n and   lime " })).json()).toMatchObject({
      title: "Mortar and lime",
    });
    expect((await patch(person, conversationId, { title: "😀".repeat(120) })).status).toBe(200);
    for (const title of ["", " \n ", "😀".repeat(121)]) expect((await patch(person, conversationId, { title })).status).toBe(400);
    expect((await patch(person, conversationId, {})).status).toBe(400);
    expect((await patch(stranger, conversationId, { title: "Mine" })).status).toBe(404);
    expect(titles((await list(person)).conversations)).toEqual(["😀".repeat(120)]);
  });

  test("come first if pinned, across pages without gaps or duplicates; the number of pins is limited", async () => {
    const person = await createPerson(api, database.db);
    const row = { user_id: person.userId, created_at: new Date(), updated_at: new Date() };
    const rows = Array.from({ length: 24 }, (_, number) => ({
      ...row,
      title: `T${number}`,
      updated_at: new Date(Date.now() - number * 1000),
    }));
    const inserted = await database.db.insertInto("conversations").values(rows).returning(["id", "title"]).execute();
    const idOf = (title: string) => inserted.find((one) => one.title === title)?.id ?? "";
    for (const title of ["T20", "T5"]) expect((await patch(person, idOf(title), { pinned: true })).status).toBe(200);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await list(person, `?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...titles(page.conversations));
      cursor = page.nextCursor;
    }
    const others = rows.map(({ title }) => title).filter((title) => title !== "T5" && title !== "T20");
    expect(seen).toEqual(["T5", "T20", ...others]);
    for (const title of others.slice(0, 18)) expect((await patch(person, idOf(title), { pinned: true })).status).toBe(200);
    const full = await patch(person, idOf(others[19] ?? ""), { pinned: true });
    expect([full.status, await full.json()]).toMatchObject([409, { code: "conflict" }]);
    expect((await patch(person, idOf("T5"), { pinned: true })).status).toBe(200);
    expect((await patch(person, idOf("T5"), { pinned: false })).status).toBe(200);
    expect((await patch(person, idOf(others[19] ?? ""), { pinned: true })).status).toBe(200);
  });

  test("are found by title and text in any letter case and script; another person's never are", async () => {
    const [person, stranger] = [await createPerson(api, database.db), await createPerson(api, database.db)];
    const lime = await ask(api, person, { prompt: `Wie brennt man KALK? ${"x ".repeat(80)}` });
    const tiles = await ask(api, person, { prompt: "古代のモザイクタイルについて教えて" });
    await ask(api, stranger, { prompt: "Kalk gehört mir" });
    const { found } = await search(person, "kalk");
    expect(found).toMatchObject([{ conversation: { id: lime.conversationId }, excerpt: { before: "Wie brennt man ", match: "KALK" } }]);
    expect(found[0]?.excerpt?.after.endsWith("…")).toBe(true);
    expect((await search(person, "タイル")).found.map(({ conversation }) => conversation.id)).toEqual([tiles.conversationId]);
    await patch(person, tiles.conversationId, { title: "100% Straße_" });
    expect((await search(person, "STRASSE_")).found).toMatchObject([{ conversation: { id: tiles.conversationId }, excerpt: null }]);
    for (const nothing of ["Kal_", "%lk", "nowhere"]) expect((await search(person, nothing)).found).toEqual([]);
    expect((await call(api, person, "GET", "/api/conversations/search?query=a")).status).toBe(400);
    expect((await call(api, person, "GET", `/api/conversations/search?query=${"a".repeat(101)}`)).status).toBe(400);
  });

  test("are searched in batches, page by page to the last one", async () => {
    const person = await createPerson(api, database.db);
    const times = { created_at: new Date(), updated_at: new Date() };
    const rows = Array.from({ length: 450 }, (_, number) => ({
      ...{ ...times, user_id: person.userId, title: number % 9 === 0 ? `Needle ${number}` : `Hay ${number}` },
      updated_at: new Date(Date.now() - number * 1000),
    }));
    await database.db.insertInto("conversations").values(rows).execute();
    const seen: string[] = [];
    let cursor: string | null = "";
    let calls = 0;
    while (cursor !== null) {
      const page = await search(person, "needle", cursor);
      expect(page.found.length).toBeLessThanOrEqual(20);
      seen.push(...page.found.map(({ conversation }) => conversation.title));
      cursor = page.nextCursor;
      calls += 1;
    }
    expect(seen).toEqual(rows.map(({ title }) => title).filter((title) => title.startsWith("Needle")));
    expect(calls).toBeLessThanOrEqual(5);
  });

  /** Inserts `count` conversations, latest first, each with `texts` messages of repetitive text, which PostgreSQL compresses well. */
  async function fill(person: TestPerson, count: number, texts: number, characters: number): Promise<void> {
    await database.pool.query(
      `with talks as (insert into conversations (user_id, title, created_at, updated_at)
           select $1::uuid, 'Talk ' || n, now(), now() - n * interval '1 minute' from generate_series(1, $2::integer) n
           returning id, substr(title, 6)::integer as n)
       insert into messages (conversation_id, role, content, created_at)
         select talks.id, 'user', repeat('tessera and mortar ', $4::integer / 19) || ' number ' || talks.n || '.', now()
           from talks, generate_series(1, $3::integer)`,
      [person.userId, count, texts, characters],
    );
    await database.asOwner("analyze conversations, messages");
  }

  test("are searched up to eight million characters at a time, however well they are compressed", async () => {
    const person = await createPerson(api, database.db);
    await fill(person, 20, 1, 1_000_000);
    const first = await search(person, "number 12.");
    expect(first.found).toEqual([]);
    expect((await search(person, "number 12.", first.nextCursor ?? "")).found).toMatchObject([{ conversation: { title: "Talk 12" } }]);
  });

  test("are searched in bounded time for a person with 2,000 long ones, and only a few searches at once", async () => {
    const person = await createPerson(api, database.db);
    await fill(person, 2_000, 3, 20_000);
    let cursor: string | null = "";
    const titles: string[] = [];
    while (cursor !== null) {
      const page = await search(person, "number 1999.", cursor);
      titles.push(...page.found.map(({ conversation }) => conversation.title));
      cursor = page.nextCursor;
    }
    expect(titles).toEqual(["Talk 1999"]);
    const rush = await Promise.all(
      Array.from({ length: 12 }, () => call(api, person, "GET", "/api/conversations/search?query=nowhere").then(({ status }) => status)),
    );
    expect(rush.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3);
    expect(rush.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    expect((await search(person, "number 1.")).found).toHaveLength(1);
  });

  test("whose search takes too long are answered with a 503 and Retry-After", async () => {
    const person = await createPerson(api, database.db);
    await fill(person, 2, 1, 1_000);
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query("begin; lock table messages");
    const refused = await call(api, person, "GET", "/api/conversations/search?query=mortar");
    await owner.end();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await search(person, "mortar")).found).toHaveLength(2);
  });

  test("are listed and searched by an index on every page, however many there are", async () => {
    const person = await createPerson(api, database.db);
    await fill(person, 2_000, 1, 10);
    const asked: CompiledQuery[] = [];
    const db = new Kysely<Database>({
      dialect: new PostgresDialect({ pool: database.pool }),
      log: ({ query }) => {
        asked.push(query);
      },
    });
    const place = { pinned: false, updatedAt: new Date(Date.now() - 1_000 * 60_000), id: randomUUID() };
    for (const from of [undefined, place]) {
      await selectConversations(db, person.userId, from, 30);
      await selectSlice(db, person.userId, from, { rows: 30, bytes: 1_000 });
    }
    expect(asked).toHaveLength(4);
    for (const { sql, parameters } of asked) {
      const { rows } = await database.pool.query(`explain (analyze, format json) ${sql}`, [...parameters]);
      const read: string[] = [];
      const walk = (node: Plan) => {
        if (node["Relation Name"] === "conversations") read.push(`${node["Node Type"]} ${node["Index Name"]}`);
        if (node["Relation Name"] === "conversations") expect(node["Actual Rows"], sql).toBeLessThanOrEqual(31);
        for (const below of node.Plans ?? []) walk(below);
      };
      walk(rows[0]["QUERY PLAN"][0].Plan);
      expect(read, sql).toEqual([`Index Scan ${/pinned" desc/.test(sql) ? "conversations_listed" : "conversations_user"}`]);
    }
  });
});
