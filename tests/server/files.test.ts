/** People's files: only their owner reads them, as nothing but what they are; none is forgotten, and none is more than the plan has room for. */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import sharp from "sharp";
import { v7 as uuidv7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { FileInfo } from "#contract/files.ts";
import { hourMs } from "#domain/clock.ts";
import { storageBytesOf } from "#domain/file-space.ts";
import { attachmentBytes, fileLimits, fileTypeOf, tidyFileName } from "#domain/files.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { endAllSessions } from "#server/features/auth/sessions.ts";
import { assertRoom, deleteFiles, openFile, storeFile } from "#server/features/files/service.ts";
import { startBucket } from "#tests/support/bucket.ts";
import { holdCredits } from "#tests/support/ledger-calls.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import { processors } from "../../worker/processors/all.ts";
import { runJob } from "../../worker/run-job.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, randomAddress } from "./auth-support.ts";

let product: AuthApp;
let ada: TestPerson;
let eve: TestPerson;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-files-"));
  product = await createAuthApp({ STORAGE_DIR: folder });
});
afterAll(async () => {
  await product.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  ada = await createPerson(product, product.db);
  eve = await createPerson(product, product.db);
});

type Asked = { as?: TestPerson | undefined; headers?: Record<string, string>; method?: InjectOptions["method"] & string };
async function call(
  url: string,
  { as, headers = {}, method = "GET" }: Asked = {},
  payload?: Buffer | object,
): Promise<LightMyRequestResponse> {
  const token = as ? { authorization: `Bearer ${as.token}` } : {};
  const remoteAddress = randomAddress();
  return product.app.inject({
    method: method as "GET",
    url,
    headers: { ...token, ...headers },
    remoteAddress,
    ...(payload ? { payload } : {}),
  });
}
const upload = (bytes: Buffer, name = "a file", as = ada) =>
  call(
    `/api/files?name=${encodeURIComponent(name)}`,
    { as, method: "POST", headers: { "content-type": "application/octet-stream" } },
    bytes,
  );
const uploaded = async (bytes: Buffer, name?: string, as = ada) => {
  const answer = await upload(bytes, name, as);
  expect(answer.statusCode, answer.payload).toBe(201);
  return answer.json<FileInfo>();
};
const read = (id: string, as: TestPerson | undefined = ada, headers: Record<string, string> = {}) =>
  call(`/api/files/${id}`, { as, headers });
const codeOf = (answer: LightMyRequestResponse) => [answer.statusCode, answer.json().code];

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
async function runJobs(): Promise<void> {
  const rows = await product.db.selectFrom("outbox").selectAll().where("job", "=", "delete-files").execute();
  for (const { id, job, payload } of rows) await runJob(product.deps, processors, { id, name: job, payload });
}
const usedBy = async ({ userId }: TestPerson) =>
  (await product.db.selectFrom("file_space").select("bytes").where("user_id", "=", userId).executeTakeFirst())?.bytes ?? 0;
const output = (bytes: Buffer, more: object = {}) =>
  storeFile(product.deps, { userId: ada.userId, kind: "output", name: "made", ...more }, bytes);
const text = (length: number) => Buffer.alloc(length, "words ");

/** What the storage calls these files, in their order. */
async function namesOf(files: readonly { id: string }[]): Promise<{ names: string[] }> {
  const rows = await product.db.selectFrom("files").select(["id", "stored_name"]).execute();
  return { names: files.flatMap(({ id }) => rows.find((row) => row.id === id)?.stored_name ?? []) };
}

/** An answer of Ada's that has ended. */
async function answerOf({ userId, walletId }: TestPerson): Promise<string> {
  const id = uuidv7();
  const now = new Date();
  await holdCredits(product.db, { holdId: id, walletId, credits: 1, kinds: ["adjustment"], now, deadline: now, wallNow: now });
  await product.asOwner(
    `insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, status, hold_id, quoted_credits, lease_owner,
       lease_expires_at, created_at) values ('${id}', '${userId}', payer_of('${userId}'), 'gpt-5', '${id}', '', 'streaming', '${id}', 1, '${id}', now(), now())`,
  );
  return id;
}

describe("reading a file", () => {
  test("is for its owner alone: anybody else gets what they get for a file that does not exist", async () => {
    const { id } = await uploaded(Buffer.from("mine"));
    expect((await read(id)).payload).toBe("mine");
    const unknown = await read(uuidv7());
    for (const answer of [await read(id, eve), await call(`/api/files/${id}`, { as: eve, method: "DELETE" })])
      expect([answer.statusCode, answer.json().code]).toEqual([unknown.statusCode, unknown.json().code]);
    expect((await call(`/api/files/${id}`)).statusCode).toBe(401);
    const { addresses } = (await call("/api/files/addresses", { as: eve, method: "POST" }, { ids: [id] })).json();
    expect(addresses).toEqual([]);
    expect((await call("/api/files?kind=attachment", { as: eve })).json().files).toEqual([]);
  });

  test("gives it as what it is, and lets a browser do nothing else with it", async () => {
    const note = await uploaded(Buffer.from("<script>alert(1)</script>"), "../../etc/pässwörter\u202etxt.html");
    expect(note).toMatchObject({ contentType: "text/plain", name: "pässwörtertxt.txt", kind: "attachment" });
    const answer = await read(note.id);
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
      "content-disposition": `attachment; filename="p_ssw_rtertxt.txt"; filename*=UTF-8''p%C3%A4ssw%C3%B6rtertxt.txt`,
      "cache-control": "private, no-cache",
      "cross-origin-resource-policy": "same-origin",
    });
    const picture = await output(
      await sharp({ create: { width: 4, height: 3, channels: 3, background: "teal" } })
        .png()
        .toBuffer(),
    );
    expect((await read(picture.id)).headers).toMatchObject({
      "content-type": "image/png",
      "content-disposition": expect.stringMatching(/^inline;/),
    });
  });

  test("in ranges, as players ask for them", async () => {
    const bytes = Buffer.from(`ID3${"0123456789".repeat(10)}`);
    const { id } = await output(bytes);
    const cases: [string, number, string | undefined, string][] = [
      ["bytes=0-2", 206, "bytes 0-2/103", "ID3"],
      ["bytes=100-", 206, "bytes 100-102/103", "789"],
      ["bytes=-3", 206, "bytes 100-102/103", "789"],
      ["bytes=-1000", 206, "bytes 0-102/103", bytes.toString()],
      ["bytes=3-100000", 206, "bytes 3-102/103", bytes.subarray(3).toString()],
      ["bytes=103-", 416, "bytes */103", ""],
      ["bytes=-0", 416, "bytes */103", ""],
      // Malformed ranges, other units and several at once: the whole file (RFC 9110 §14.2).
      ["bytes=5-3", 200, undefined, bytes.toString()],
      ["bytes=0-1,3-4", 200, undefined, bytes.toString()],
      ["lines=0-1", 200, undefined, bytes.toString()],
      ["bytes=-", 200, undefined, bytes.toString()],
    ];
    for (const [range, status, where, body] of cases) {
      const answer = await read(id, ada, { range });
      expect([answer.statusCode, answer.headers["content-range"], answer.payload], range).toEqual([status, where, body]);
      if (status !== 416) expect(answer.headers["content-length"], range).toBe(String(body.length));
    }
    const { etag } = (await read(id)).headers;
    expect((await read(id, ada, { "if-none-match": String(etag) })).statusCode).toBe(304);
    expect((await read(id, ada, { range: "bytes=0-2", "if-range": String(etag) })).statusCode).toBe(206);
    expect((await read(id, ada, { range: "bytes=0-2", "if-range": '"other"' })).statusCode).toBe(200);
    const head = await call(`/api/files/${id}`, { as: ada, method: "HEAD" });
    expect([head.statusCode, head.headers["content-length"], head.payload]).toEqual([200, "103", ""]);
  });

  test("without a token at a signed address, for an hour or two, of a sign-in that lasts", async () => {
    const { id } = await uploaded(Buffer.from("mine"));
    const other = await uploaded(Buffer.from("also mine"));
    const signed = async () => (await call("/api/files/addresses", { as: ada, method: "POST" }, { ids: [id] })).json().addresses[0];
    const { address, expiresAt } = await signed();
    expect((await call(address)).payload).toBe("mine");
    expect((await signed()).address).toBe(address);
    const ticket = address.split("/").at(-1);
    const [user, session, until, signature] = ticket.split(".");
    const forged = [
      `/api/files/${other.id}/${ticket}`,
      `/api/files/${id}/${[user, session, "zzzzzz", signature].join(".")}`,
      `/api/files/${id}/${[user, session, until, "A".repeat(43)].join(".")}`,
      `/api/files/${id}/${ticket.slice(0, -1)}`,
      `/api/files/${id}/x`,
      `/api/files/not-an-id/${ticket}`,
    ];
    for (const each of forged) expect((await call(each)).statusCode, each).toBe(404);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(expiresAt) - 1_000 });
    expect((await call(address)).statusCode).toBe(200);
    vi.setSystemTime(Date.parse(expiresAt) + 1);
    expect((await call(address)).statusCode).toBe(404);
    vi.useRealTimers();
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(2 * hourMs);
    await inTransaction(product.db, (trx) => endAllSessions(trx, ada.userId));
    expect((await call(address)).statusCode).toBe(404);
  });
});

/** Uploads that are refused, wherever files are kept. */
const refused: [string, () => Promise<Buffer> | Buffer, number, string][] = [
  ["nothing", () => Buffer.alloc(0), 415, "file_unsupported"],
  ["bytes of no known kind", () => randomBytes(500), 415, "file_unsupported"],
  ["text that turns into something else", () => Buffer.concat([text(5_000), Buffer.from([0, 1, 2])]), 415, "file_unsupported"],
  ["a program", () => Buffer.from("\x7fELF\x02\x01\x01", "latin1"), 415, "file_unsupported"],
  ["a zip file", () => Buffer.from("PK\x03\x04", "latin1"), 415, "file_unsupported"],
  ["the beginning of a picture", async () => (await picture()).subarray(0, 60), 422, "file_damaged"],
  ["more bytes than allowed", () => Buffer.alloc(attachmentBytes + 1, "a"), 413, "file_too_large"],
  ["a picture of 100 megapixels", () => picture(10_000, 10_000), 413, "file_too_large"],
];

describe("an upload", () => {
  test("is listed, latest first, with how much there is room for", async () => {
    const files = [await uploaded(text(10), "one"), await uploaded(text(20), "two"), await uploaded(text(30), "three")];
    const first = (await call("/api/files?kind=attachment&limit=2", { as: ada })).json();
    expect(first).toMatchObject({ usedBytes: 60, allowedBytes: 100_000_000 });
    const second = (await call(`/api/files?kind=attachment&limit=2&cursor=${first.nextCursor}`, { as: ada })).json();
    expect([...first.files, ...second.files]).toEqual(files.toReversed());
    expect(second.nextCursor).toBeNull();
    expect((await call("/api/files?kind=output", { as: ada })).json().files).toEqual([]);
  });

  test("of a picture keeps it upright, in a size that models take, and nothing else of it", async () => {
    const photo = await sharp({ create: { width: 3_000, height: 1_500, channels: 3, background: "teal" } })
      .withMetadata({ orientation: 6, exif: { IFD0: { Copyright: "where somebody lives" } } })
      .jpeg()
      .toBuffer();
    const hidden = Buffer.concat([photo, Buffer.from("<script>the second format</script>")]);
    const file = await uploaded(hidden, "photo.png");
    expect(file).toMatchObject({ contentType: "image/jpeg", name: "photo.jpg", width: 784, height: 1_568 });
    const kept = (await read(file.id)).rawPayload;
    expect(kept.includes("where somebody lives") || kept.includes("second format")).toBe(false);
    const metadata = await sharp(kept).metadata();
    expect(metadata).toMatchObject({ format: "jpeg", width: 784, height: 1_568 });
    expect(metadata).not.toHaveProperty("exif");
  });

  test.each(refused)("of %s is refused and leaves nothing", async (_name, bytes, status, code) => {
    const before = await storedFiles();
    expect(codeOf(await upload(await bytes()))).toEqual([status, code]);
    expect(await storedFiles()).toEqual(before);
    expect(await usedBy(ada)).toBe(0);
  });

  test("can't be more than the plan has room for, however many come at once", async () => {
    const room = storageBytesOf("none");
    await output(Buffer.concat([Buffer.from("ID3"), Buffer.alloc(1_000)]));
    await product.asOwner(`update file_space set bytes = ${room - 25} where user_id = '${ada.userId}'`);
    const answers = await Promise.all([1, 2, 3].map(() => upload(text(10))));
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([201, 201, 409]);
    expect(codeOf(answers.find(({ statusCode }) => statusCode === 409) as LightMyRequestResponse)).toEqual([409, "storage_full"]);
    expect(await usedBy(ada)).toBe(room - 5);
    await assertRoom(product.deps, ada.userId);
    // What a model made was paid for.
    await output(Buffer.concat([Buffer.from("ID3"), Buffer.alloc(97)]));
    expect(await usedBy(ada)).toBe(room + 95);
    await expect(assertRoom(product.deps, ada.userId)).rejects.toMatchObject({ code: "storage_full" });
  });
});

async function picture(width = 40, height = 40): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "teal" }, limitInputPixels: false })
    .png()
    .toBuffer();
}

describe("a deleted file", () => {
  test("can't be read at once, gives its room back, and its bytes go with a job", async () => {
    const { id } = await uploaded(text(10));
    const { address } = (await call("/api/files/addresses", { as: ada, method: "POST" }, { ids: [id] })).json().addresses[0];
    const before = await storedFiles();
    expect((await call(`/api/files/${id}`, { as: ada, method: "DELETE" })).statusCode).toBe(204);
    expect([(await read(id)).statusCode, (await call(address)).statusCode, await usedBy(ada)]).toEqual([404, 404, 0]);
    await runJobs();
    expect(await storedFiles()).toHaveLength(before.length - 1);
    expect((await call(`/api/files/${id}`, { as: ada, method: "DELETE" })).statusCode).toBe(404);
  });

  test("goes with the text of the answer that made it, also if it was just being stored, and with its conversation", async () => {
    const generationId = await answerOf(ada);
    const made = await output(await picture(), { generationId });
    const erase = () => product.asOwner(`select answers_erase(array['${generationId}']::uuid[])`);
    async function* slow() {
      yield await picture();
      await erase();
    }
    const before = (await storedFiles()).length;
    const late = { userId: ada.userId, kind: "output", name: "late", generationId } as const;
    await expect(storeFile(product.deps, late, slow())).rejects.toMatchObject({ code: "generation_ended" });
    await expect(openFile(product.deps, ada.userId, made.id)).rejects.toMatchObject({ code: "not_found" });
    await expect(output(await picture(), { generationId })).rejects.toMatchObject({ code: "generation_ended" });
    const attached = await uploaded(text(10));
    const conversation = uuidv7();
    const now = new Date();
    await product.db
      .insertInto("conversations")
      .values({ id: conversation, user_id: ada.userId, title: "Mosaics", created_at: now, updated_at: now })
      .execute();
    await product.db.updateTable("files").set({ conversation_id: conversation }).where("id", "=", attached.id).execute();
    await product.db.deleteFrom("conversations").where("id", "=", conversation).execute();
    expect((await read(attached.id)).statusCode).toBe(404);
    await runJobs();
    expect((await storedFiles()).length).toBe(before - 1);
    expect(await usedBy(ada)).toBe(0);
  });

  test("of many files, their bytes go in jobs of a hundred", async () => {
    await product.asOwner(`insert into files (user_id, kind, name, content_type, bytes, created_at)
      select '${ada.userId}', 'output', 'a.png', 'image/png', 1, now() from generate_series(1, 250)`);
    const rows = await product.db.selectFrom("files").select("id").where("user_id", "=", ada.userId).execute();
    expect(await usedBy(ada)).toBe(250);
    expect(
      await deleteFiles(
        product.db,
        eve.userId,
        rows.map(({ id }) => id),
      ),
    ).toBe(0);
    expect(
      await deleteFiles(
        product.db,
        ada.userId,
        rows.map(({ id }) => id),
      ),
    ).toBe(250);
    const jobs = await product.db.selectFrom("outbox").select("payload").where("job", "=", "delete-files").execute();
    expect(jobs.map(({ payload }) => (payload as { names: string[] }).names.length).sort()).toEqual([100, 100, 50]);
    await runJobs();
    expect(await usedBy(ada)).toBe(0);
  });

  test("one that the storage can't delete gets a job of its own, and the others go", async () => {
    const files = [];
    for (let made = 0; made < 3; made += 1) files.push(await output(Buffer.from(`RIFF....WAVE${made}`)));
    const { names } = await namesOf(files);
    const [first = ""] = names;
    const at = path.join(folder, first.slice(-2), first);
    // A folder that is not empty can't be deleted as a file is.
    await rm(at);
    await mkdir(path.join(at, "inside"), { recursive: true });
    expect(
      await deleteFiles(
        product.db,
        ada.userId,
        files.map(({ id }) => id),
      ),
    ).toBe(3);
    await runJobs();
    const stored = await storedFiles();
    expect(names.filter((name) => stored.includes(name))).toEqual([]);
    const left = () => product.db.selectFrom("outbox").selectAll().where("job", "=", "delete-file").execute();
    const [job, ...others] = await left();
    expect([job?.payload, others]).toEqual([{ name: first }, []]);
    expect(await product.db.selectFrom("outbox").selectAll().where("job", "=", "delete-files").execute()).toEqual([]);
    await rm(at, { recursive: true });
    if (job) await runJob(product.deps, processors, { id: job.id, name: job.job, payload: job.payload });
    expect(await left()).toEqual([]);
  });
});

test("a file whose bytes break off is not there, and nothing is reserved for it", async () => {
  async function* broken() {
    yield await picture();
    throw new Error("the provider broke off");
  }
  const before = await storedFiles();
  await expect(storeFile(product.deps, { userId: ada.userId, kind: "output", name: "half" }, broken())).rejects.toThrow("broke off");
  expect([await storedFiles(), await usedBy(ada)]).toEqual([before, 0]);
  expect((await call("/api/files?kind=output", { as: ada })).json().files).toEqual([]);
});

test("the type is told from the content", () => {
  const starts: [string, string | undefined][] = [
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["RIFF....WEBP", "image/webp"],
    ["RIFF....WAVE", "audio/wav"],
    ["RIFF....AVI ", undefined],
    ["....ftypheic", "image/heic"],
    ["....ftypM4A ", "audio/mp4"],
    ["....ftypisom", "video/mp4"],
    ["\xff\xfb\x90\x00", "audio/mpeg"],
    ["\xff\xf1\x50\x80", "audio/aac"],
    ["\x1aE\xdf\xa3", "video/webm"],
    ["<svg xmlns=", "text/plain"],
    ["%PDF-1.7", "application/pdf"],
    ["MZ\x90\x00", undefined],
  ];
  for (const [head, type] of starts) expect(fileTypeOf(Buffer.from(head.replaceAll("....", "\0\0\0\x20"), "latin1")), head).toBe(type);
});

test("a name leads nowhere and hides nothing", () => {
  const names: [string, string][] = [
    ["../../etc/passwd", "passwd.txt"],
    ["C:\\Windows\\notes.md", "notes.md"],
    ["invoice\u202efdp.exe", "invoicefdp.txt"],
    ["", "file.txt"],
    ["...", "file.txt"],
    ["a\r\nSet-Cookie: b", "aSet-Cookie b.txt"],
    ["レポート.csv", "レポート.csv"],
  ];
  for (const [name, tidy] of names) expect(tidyFileName(name, "text/plain"), name).toBe(tidy);
  expect(tidyFileName("x".repeat(5_000), "image/png")).toHaveLength(fileLimits.nameLength);
  expect(tidyFileName("photo.svg", "image/png")).toBe("photo.png");
});

test("in a bucket they are read, refused to others and at the door, and deleted in the same way", async () => {
  const bucket = await startBucket();
  const { endpoint, name, accessKeyId, secretAccessKey } = bucket.place;
  const key = { STORAGE_S3_ACCESS_KEY_ID: accessKeyId, STORAGE_S3_SECRET_ACCESS_KEY: secretAccessKey };
  const other = await createAuthApp({ STORAGE_S3_BUCKET: name, STORAGE_S3_ENDPOINT: endpoint?.href, ...key });
  const [grace, eve] = [await createPerson(other, other.db), await createPerson(other, other.db)];
  const ask = (url: string, by: TestPerson, more: Partial<InjectOptions> = {}) =>
    other.app.inject({
      method: "GET",
      url,
      headers: { authorization: `Bearer ${by.token}`, ...more.headers },
      ...(more.method && { method: more.method }),
    });
  const bytes = Buffer.from(`ID3${"0123456789".repeat(10)}`);
  const { id } = await storeFile(other.deps, { userId: grace.userId, kind: "output", name: "song" }, bytes);
  expect((await ask(`/api/files/${id}`, grace)).rawPayload.equals(bytes)).toBe(true);
  const part = await ask(`/api/files/${id}`, grace, { headers: { range: "bytes=3-5" } });
  expect([part.statusCode, part.headers["content-range"], part.payload]).toEqual([206, "bytes 3-5/103", "012"]);
  expect((await ask(`/api/files/${id}`, eve)).statusCode).toBe(404);
  const stored = await other.db.selectFrom("files").select("stored_name").where("id", "=", id).executeTakeFirstOrThrow();
  expect((await ask(`/api/files/${id}`, grace, { method: "DELETE" })).statusCode).toBe(204);
  expect((await ask(`/api/files/${id}`, grace)).statusCode).toBe(404);
  const [job] = await other.db.selectFrom("outbox").selectAll().where("job", "=", "delete-files").execute();
  await runJob(other.deps, processors, { id: job?.id ?? "", name: "delete-files", payload: job?.payload });
  expect(await other.deps.storage.exists(stored.stored_name)).toBe(false);
  for (const [what, bytesOf, status, code] of refused) {
    const answer = await other.app.inject({
      method: "POST",
      url: "/api/files?name=x",
      headers: { authorization: `Bearer ${grace.token}`, "content-type": "application/octet-stream" },
      payload: await bytesOf(),
      remoteAddress: randomAddress(),
    });
    expect(codeOf(answer), what).toEqual([status, code]);
  }
  expect(await bucket.keys()).toEqual([]);
  await other.close();
  await bucket.close();
});
