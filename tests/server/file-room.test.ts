import type { RootOperationNode } from "kysely";
import { createQueryId } from "kysely";
import sharp from "sharp";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Conversation } from "#contract/conversations.ts";
import type { FileInfo, RoomFile } from "#contract/files.ts";
import { dayMs } from "#domain/clock.ts";
import { fileCategories, fileOrders } from "#domain/file-categories.ts";
import { modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import type { Db } from "#server/db/database.ts";
import { selectRoom } from "#server/features/files/room-queries.ts";
import { storeFile } from "#server/features/files/service.ts";
import type { AnswerProcess, RunningModels } from "#tests/support/answers.ts";
import { ask, send } from "#tests/support/answers.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { randomAddress } from "./auth-support.ts";
import type { FilesProduct } from "./files-support.ts";
import { startFilesProduct } from "./files-support.ts";

const painter = modelsAt(new Date()).find(({ category }) => category === "image") ?? expect.fail("no model makes pictures");

let world: FilesProduct;
let models: RunningModels;
let product: AuthApp;
let api: AnswerProcess;
let ada: TestPerson;

beforeAll(async () => {
  world = await startFilesProduct();
  ({ models, product, api } = world);
});
afterAll(() => world.close());
beforeEach(async () => {
  ada = await createPerson(product, product.db, { plan: "professional", credits: 200 });
});

const call = (method: "GET" | "DELETE" | "POST", url: string, as = ada, payload?: Buffer) =>
  product.app.inject({
    ...{ method, url, remoteAddress: randomAddress(), ...(payload && { payload }) },
    headers: { authorization: `Bearer ${as.token}`, ...(payload && { "content-type": "application/octet-stream" }) },
  });
const upload = async (bytes: Buffer, name: string, to = "files", as = ada) => {
  const answer = await call("POST", `/api/${to}?name=${encodeURIComponent(name)}`, as, bytes);
  expect(answer.statusCode, answer.payload).toBe(201);
  return answer.json<FileInfo>();
};
interface Page {
  files: RoomFile[];
  nextCursor: string | null;
  usedBytes: number;
  allowedBytes: number;
}
const page = async (query = "", as = ada) => (await call("GET", `/api/files/room?${query}`, as)).json<Page>();
const remove = (id: string, query = "", as = ada) => call("DELETE", `/api/files/${id}${query}`, as);
const isThere = async (id: string) => (await call("GET", `/api/files/${id}`)).statusCode === 200;
const text = (length: number) => Buffer.alloc(length, "words ");
const png = () =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
const output = (bytes: Buffer, name: string) => storeFile(product.deps, { userId: ada.userId, kind: "output", name }, bytes);

async function everyPage(query: string, limit: number): Promise<RoomFile[]> {
  const all: RoomFile[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const next: Page = await page(`${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
    all.push(...next.files);
    cursor = next.nextCursor;
  }
  return all;
}

describe("the list of what takes room", () => {
  test("has files of every category, with where each was sent or made, and how long it is kept", async () => {
    const waiting = await upload(text(10), "waiting.txt");
    const recording = await upload(makeWav(1), "memo.wav", "recordings");
    const sent = await upload(text(20), "sent.txt");
    const question = await ask(api, ada, { prompt: "Read it", attachments: [sent.id] });
    const picture = await ask(api, ada, {
      ...{ model: painter.id, prompt: "A fox in an autumn forest", quotedCredits: quoteCredits(painter) },
      picture: { count: 1, size: "1024x1024", quality: "low", background: "auto" },
    });
    const spoken = await ask(api, ada, { model: "gpt-4o-mini-tts", reads: question.generationId, prompt: undefined, quotedCredits: 2 });
    for (const { receipt } of [question, picture, spoken]) expect(receipt).toMatchObject({ status: "completed" });
    await output(Buffer.from("\x1aE\xdf\xa3 a clip", "latin1"), "A clip");
    const { files, usedBytes, allowedBytes, nextCursor } = await page();
    const { title } = (await call("GET", `/api/conversations/${question.conversationId}`)).json<Conversation>();
    const inThat = { conversation: { id: question.conversationId, title }, keptUntil: null };
    const alone = { conversation: null, prompt: null };
    const untilOf = ({ createdAt }: FileInfo) => new Date(Date.parse(createdAt) + 7 * dayMs).toISOString();
    expect(files).toEqual([
      expect.objectContaining({ category: "clip", name: "A clip.webm", ...alone, keptUntil: null }),
      expect.objectContaining({ category: "speech", prompt: null, ...inThat }),
      expect.objectContaining({
        ...{ category: "picture", prompt: "A fox in an autumn forest", keptUntil: null },
        conversation: expect.objectContaining({ id: picture.conversationId }),
      }),
      expect.objectContaining({ id: sent.id, category: "attachment", name: "sent.txt", prompt: null, ...inThat }),
      expect.objectContaining({ id: recording.id, category: "recording", ...alone, keptUntil: untilOf(recording) }),
      expect.objectContaining({ id: waiting.id, category: "attachment", bytes: 10, ...alone, keptUntil: untilOf(waiting) }),
    ]);
    expect([usedBytes, nextCursor]).toEqual([files.reduce((sum, { bytes }) => sum + bytes, 0), null]);
    expect(allowedBytes).toBeGreaterThan(usedBytes);
    for (const category of fileCategories)
      expect((await page(`category=${category}`)).files).toEqual(files.filter((file) => file.category === category));
  });

  test("comes page by page in both orders, whole and without repeats, also where many are of one size", async () => {
    const made = [];
    for (const length of [30, 10, 30, 20, 30]) made.push(await upload(text(length), `${length}.txt`));
    made.push(await output(Buffer.concat([Buffer.from("ID3"), Buffer.alloc(27)]), "speech"), await output(await png(), "picture"));
    const newest = made.map(({ id }) => id).toReversed();
    const largest = made.toSorted((one, two) => two.bytes - one.bytes || (one.id < two.id ? 1 : -1)).map(({ id }) => id);
    for (const limit of [1, 2, 3, 7, 100]) {
      expect((await everyPage("order=newest", limit)).map(({ id }) => id)).toEqual(newest);
      expect((await everyPage("order=largest", limit)).map(({ id }) => id)).toEqual(largest);
      const attached = new Set(made.slice(0, 5).map(({ id }) => id));
      expect((await everyPage("order=largest&category=attachment", limit)).map(({ id }) => id)).toEqual(
        largest.filter((id) => attached.has(id)),
      );
    }
    const { nextCursor } = await page("order=newest&limit=1");
    for (const cursor of [
      `order=largest&cursor=${nextCursor}`,
      "cursor=x",
      `cursor=${Buffer.from(`newest ${uuidv7()} 1e9`).toString("base64url")}`,
    ])
      expect((await call("GET", `/api/files/room?${cursor}`)).json()).toMatchObject({ code: "validation_failed" });
  });

  test("is each person's own", async () => {
    const eve = await createPerson(product, product.db);
    const { id } = await upload(text(10), "mine.txt");
    expect(await page("", eve)).toMatchObject({ files: [], usedBytes: 0 });
    expect((await remove(id, "", eve)).statusCode).toBe(404);
    expect((await remove(id, "?unsent=true", eve)).statusCode).toBe(404);
    expect(await isThere(id)).toBe(true);
  });

  test("costs the same however many files there are", async () => {
    await product.asOwner(`insert into files (user_id, kind, name, content_type, bytes, created_at)
      select '${ada.userId}', case when n % 3 = 0 then 'attachment' else 'output' end, 'file ' || n,
          (array['image/png', 'audio/mpeg', 'video/mp4'])[1 + n % 2 + n % 5 / 4], n % 50, now() from generate_series(1, 6000) n`);
    await product.asOwner("analyze files");
    const middle = (await page("order=largest&limit=50")).files.at(-1) ?? expect.fail("there are no files");
    for (const order of fileOrders)
      for (const categories of [fileCategories, ["picture"] as const])
        for (const place of [undefined, middle]) {
          const rows = await rowsRead((db) => selectRoom(db, ada.userId, { categories, order, place, limit: 10 }));
          expect(rows, `${order} ${categories}`).toBeLessThanOrEqual(10 * fileCategories.length);
        }
  });
});

interface PlanNode {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

/** How many rows of `files` PostgreSQL reads for what a query asks. */
async function rowsRead(query: (db: Db) => Promise<unknown>): Promise<number> {
  const asked: RootOperationNode[] = [];
  const listening = product.db.withPlugin({
    transformQuery({ node }) {
      asked.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await query(listening as Db);
  const [node] = asked;
  if (!node) throw new Error("nothing was asked");
  const compiled = product.db.getExecutor().compileQuery(node, createQueryId());
  const { rows } = await product.deps.pool.query(`explain (analyze, format json) ${compiled.sql}`, [...compiled.parameters]);
  const count = (plan: PlanNode): number => {
    const own = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
    return (plan["Relation Name"] === "files" ? own : 0) + (plan.Plans ?? []).reduce((sum, each) => sum + count(each), 0);
  };
  return count(rows[0]["QUERY PLAN"][0].Plan);
}

describe("deleting", () => {
  test("from the list gives the room back, and what a question was sent with reads as deleted", async () => {
    const sent = await upload(text(500), "gone.txt");
    const { conversationId } = await ask(api, ada, { prompt: "Read it", attachments: [sent.id] });
    const before = await page();
    expect((await remove(sent.id)).statusCode).toBe(204);
    expect(await page()).toEqual({ ...before, files: [], usedBytes: before.usedBytes - 500 });
    const { messages } = (await call("GET", `/api/conversations/${conversationId}`)).json<Conversation>();
    expect(JSON.stringify(messages)).toContain("gone.txt");
    await ask(api, ada, { prompt: "What was in it?", conversationId });
    expect(models.lastMessages()[0]?.content).toBe('[Attached file "gone.txt": it was deleted]\n\nRead it');
  });

  test("what was put away before it was sent leaves everything else: what was sent, and what a model made", async () => {
    const [away, sent, reference] = [await upload(text(10), "a.txt"), await upload(text(20), "b.txt"), await upload(await png(), "c.png")];
    const made = await output(await png(), "made");
    await ask(api, ada, { prompt: "Read it", attachments: [sent.id] });
    await ask(api, ada, {
      ...{ model: painter.id, prompt: "A fox", quotedCredits: quoteCredits(painter) },
      picture: { count: 1, size: "1024x1024", quality: "low", background: "auto", references: [reference.id] },
    });
    for (const { id } of [sent, reference, made]) {
      expect((await remove(id, "?unsent=true")).statusCode).toBe(404);
      expect(await isThere(id)).toBe(true);
    }
    const { usedBytes } = await page();
    expect((await remove(away.id, "?unsent=true")).statusCode).toBe(204);
    expect([await isThere(away.id), (await page()).usedBytes]).toEqual([false, usedBytes - 10]);
  });

  test("what is put away while a question is sent with it either finds it sent, or the question is refused: never a question without its file", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await upload(text(10), "both.txt");
      const [deleted, started] = await Promise.all([remove(id, "?unsent=true"), send(api, ada, { prompt: "Read it", attachments: [id] })]);
      const body = await started.text();
      expect(deleted.statusCode === 204, body).toBe(started.status !== 200);
    }
  });

  test("ten large files that are put away leave room for as many again", async () => {
    const trial = await createPerson(product, product.db);
    const { allowedBytes } = await page("", trial);
    expect(allowedBytes).toBe(100_000_000);
    const large = Buffer.alloc(10_000_000, "words ");
    for (let count = 0; count < 12; count += 1) {
      const { id } = await upload(large, "large.txt", "files", trial);
      expect((await remove(id, "?unsent=true", trial)).statusCode).toBe(204);
    }
    expect(await page("", trial)).toMatchObject({ files: [], usedBytes: 0 });
  });
});
