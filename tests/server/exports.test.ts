/** A person's export has everything of theirs and nothing of anybody else, reaches only them, and is gone after a day. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import sharp from "sharp";
import { v7 as uuidv7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import type { LatestExport } from "#contract/own-data.ts";
import type { AvatarSize } from "#domain/avatars.ts";
import { avatarAddress } from "#domain/avatars.ts";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { exportsADay, stepUpMs } from "#domain/periods.ts";
import { changeAvatar } from "#server/features/account/avatars.ts";
import { deleteFiles, storeFile } from "#server/features/files/service.ts";
import { pictureFiles } from "#server/features/own-data/archive.ts";
import { makeExport } from "#server/features/own-data/exports.ts";
import { sections } from "#server/features/own-data/sections.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import type { StoredFile } from "#server/providers/storage/storage.ts";
import { readZip, readZipBytes } from "#tests/support/zip.ts";
import { processors } from "../../worker/processors/all.ts";
import { runJob } from "../../worker/run-job.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let folder: string;
let ada: Session;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-exports-"));
  product = await createAuthApp({ STORAGE_DIR: folder });
});
afterAll(async () => {
  await product.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  ada = await product.join();
});
let stopTravel: (() => void) | undefined;
afterEach(() => {
  stopTravel?.();
  stopTravel = undefined;
});

/** Moves the business time of this process and of PostgreSQL. */
async function travel(milliseconds: number): Promise<void> {
  const before = product.deps.clock.now;
  product.deps.clock.now = () => addMilliseconds(before(), milliseconds);
  await product.asOwner(`update business_clock set offset_ms = ${milliseconds}`);
  stopTravel = () => {
    product.deps.clock.now = before;
  };
}
afterEach(() => product.asOwner("update business_clock set offset_ms = 0"));

const headersOf = ({ access_token }: Session) => ({ authorization: `Bearer ${access_token}` });
const ask = (by = ada) => product.post("/api/account/exports", {}, { headers: headersOf(by) });
const latest = async (by = ada) => (await product.get("/api/account/exports", by.access_token)).json<LatestExport>().latest;
const download = (id: string, by = ada) =>
  product.app.inject({ method: "GET", url: `/api/account/exports/${id}/file`, headers: headersOf(by) });

async function askedId(by = ada): Promise<string> {
  const answer = await ask(by);
  expect(answer.statusCode).toBe(202);
  return answer.json<LatestExport>().latest?.id ?? "";
}

/** Runs the outbox's jobs for files as the worker does. */
async function runFileJobs(): Promise<void> {
  const rows = await product.db.selectFrom("outbox").selectAll().where("job", "in", ["make-export", "delete-file"]).execute();
  for (const { id, job, payload } of rows) await runJob(product.deps, processors, { id, name: job, payload });
}

async function made(by = ada): Promise<string> {
  const id = await askedId(by);
  await runFileJobs();
  return id;
}

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function insertConversation(userId: string, questions: readonly string[]): Promise<string> {
  const id = uuidv7();
  const at = new Date();
  await product.db.insertInto("conversations").values({ id, user_id: userId, title: "Mosaics", created_at: at, updated_at: at }).execute();
  for (const content of questions)
    await product.db
      .insertInto("messages")
      .values({ conversation_id: id, parent_id: null, role: "user", generation_id: null, content, created_at: at })
      .execute();
  return id;
}

test("an export has what the person has, in files that its README describes, and nothing of anybody else", async () => {
  const eve = await product.join();
  const conversation = await insertConversation(
    ada.user.id,
    Array.from({ length: 250 }, (_, index) => `question ${index}`),
  );
  await insertConversation(eve.user.id, ["the secret of Eve"]);
  await product.app.inject({ method: "PUT", url: "/api/account/support-access", headers: headersOf(ada), payload: { days: 1 } });
  const answer = await download(await made());
  expect([answer.statusCode, answer.headers["content-type"], answer.headers["cache-control"]]).toEqual([
    200,
    "application/zip",
    "no-store",
  ]);
  const files = readZip(answer.rawPayload);
  expect([...files.keys()].sort()).toEqual(["README.md", ...sections.map(({ name }) => `${name}.json`)].sort());
  for (const { name, describes } of sections) expect(files.get("README.md")).toContain(`${name}.json: ${describes}`);
  const read = (name: string): Record<string, unknown>[] => JSON.parse(files.get(`${name}.json`) ?? "");
  expect(read("account")).toEqual([
    expect.objectContaining({ id: ada.user.id, preferences: { language: "en", declinedMails: [] }, spendingLimits: null }),
  ]);
  expect(read("identities")).toEqual([expect.objectContaining({ subject: ada.user.email })]);
  expect(read("sessions")).toHaveLength(1);
  expect(read("support-access")).toMatchObject([{ until: expect.any(String), askedAt: null, endedAt: null }]);
  expect(read("conversations")).toEqual([expect.objectContaining({ id: conversation, title: "Mosaics" })]);
  expect(read("messages").map(({ text }) => text)).toEqual(Array.from({ length: 250 }, (_, index) => `question ${index}`));
  expect(read("activity").map(({ action }) => action)).toContain("sign_up.confirmed");
  const all = [...files.values()].join("\n");
  expect(all).not.toMatch(new RegExp(`${eve.user.id}|${eve.user.email}|secret of Eve|scrypt|token_hash`));
});

test("an export has the bytes of the person's picture, as it was when it was made, and its README names them", async () => {
  const { deps } = product;
  const png = await sharp({ create: { width: 400, height: 300, channels: 3, background: "#a63d22" } })
    .png()
    .toBuffer();
  await changeAvatar(deps, ada.user.id, png, undefined);
  const eve = await product.join();
  await changeAvatar(deps, eve.user.id, png, undefined);
  const { avatarUrl } = await changeAvatar(deps, ada.user.id, await sharp(png).tint("#0000ff").png().toBuffer(), undefined);
  const name = avatarUrl?.split("/")[2] ?? "";
  // The picture is replaced between the look at its name and the opening of its files.
  let raced = false;
  const racing: typeof deps.storage = {
    ...deps.storage,
    get: async (...asked) => {
      if (!raced) {
        raced = true;
        await changeAvatar(deps, ada.user.id, await sharp(png).tint("#00ff00").png().toBuffer(), undefined);
      }
      return deps.storage.get(...asked);
    },
  };
  const id = await askedId();
  await makeExport({ ...deps, storage: racing }, id);
  const files = readZipBytes((await download(id)).rawPayload);
  const { avatar_url } = await product.db.selectFrom("users").select("avatar_url").where("id", "=", ada.user.id).executeTakeFirstOrThrow();
  expect(avatar_url).not.toContain(name);
  for (const [size, file] of Object.entries(pictureFiles) as [AvatarSize, string][]) {
    const served = await product.app.inject({ url: avatarAddress(avatar_url?.split("/")[2] ?? "", size) });
    expect(served.statusCode).toBe(200);
    expect(files.get(file)?.equals(served.rawPayload)).toBe(true);
    expect(files.get("README.md")?.toString()).toContain(file);
  }
});

test("an export has the person's files, and an empty one for a file that is deleted meanwhile", async () => {
  const { deps } = product;
  const keep = (userId: string, name: string, text: string) => storeFile(deps, { userId, kind: "output", name }, Buffer.from(text));
  const [kept, lost] = [await keep(ada.user.id, "notes", "my notes"), await keep(ada.user.id, "lost", "lost")];
  await keep((await product.join()).user.id, "hers", "the secret of Eve");
  const racing: typeof deps.storage = {
    ...deps.storage,
    get: async (...asked) => {
      await deleteFiles(deps.db, ada.user.id, [lost.id]);
      return deps.storage.get(...asked);
    },
  };
  const id = await askedId();
  await makeExport({ ...deps, storage: racing }, id);
  const files = readZip((await download(id)).rawPayload);
  expect([...files].filter(([name]) => name.startsWith("files/"))).toEqual([
    [`files/${kept.id}-notes.txt`, "my notes"],
    [`files/${lost.id}-lost.txt`, ""],
  ]);
  expect(JSON.parse(files.get("files.json") ?? "")[0]).toMatchObject({ file: `files/${kept.id}-notes.txt`, type: "text/plain", bytes: 8 });
});

test("an export fails if a file of the picture is lost, and holds no file open", async () => {
  const png = await sharp({ create: { width: 400, height: 300, channels: 3, background: "#a63d22" } })
    .png()
    .toBuffer();
  const { avatarUrl } = await changeAvatar(product.deps, ada.user.id, png, undefined);
  await product.deps.storage.delete(`small-${avatarUrl?.split("/")[2]}`);
  const opened: StoredFile[] = [];
  const watched: typeof product.deps.storage = {
    ...product.deps.storage,
    get: async (...asked) => {
      const file = await product.deps.storage.get(...asked);
      if (file) opened.push(file);
      return file;
    },
  };
  const id = await askedId();
  await expect(makeExport({ ...product.deps, storage: watched }, id)).rejects.toThrow("lacks a file of the picture");
  expect(opened.map(({ content }) => content.destroyed)).toEqual([true]);
  expect((await latest())?.status).toBe("failed");
});

test("every section's query runs, for a person who has nothing", async () => {
  const files = readZip((await download(await made())).rawPayload);
  for (const { name } of sections) expect(Array.isArray(JSON.parse(files.get(`${name}.json`) ?? ""))).toBe(true);
});

test("another person gets neither the file nor to know that it is there", async () => {
  const id = await made();
  const eve = await product.join();
  expect([(await download(id, eve)).statusCode, await latest(eve)]).toEqual([404, null]);
  expect((await product.get(`/api/account/exports/${id}/file`)).statusCode).toBe(401);
});

test("asking needs a factor shown a short while ago, and so does downloading what is ready", async () => {
  const id = await made();
  await product.db
    .updateTable("auth_sessions")
    .set({ proved_at: new Date(Date.now() - stepUpMs - 1_000) })
    .where("user_id", "=", ada.user.id)
    .execute();
  const [asked, downloaded] = [await ask(), await download(id)];
  expect([asked.json().code, downloaded.json().code]).toEqual(["step_up_required", "step_up_required"]);
  expect((await latest())?.id).toBe(id);
});

/** Tables that refer to a person or their account but have no section: where the export says the same, or why it need not. */
const leftOut = {
  avatars: "the picture itself is in the export",
  billing_account_members: "which account pays for the person; its rows are in the sections",
  clip_jobs: "clips that are being made; their receipts are there",
  file_space: "the sum of the files",
  findings: "what checks of our books found; what they mended is in the ledger",
  former_customers: "the ids of customers that were deleted at Stripe; what they paid is in the invoices",
  generation_keys: "names that a device gives its calls, for a day",
  google_answers: "for ten minutes, while somebody signs in with Google",
  holds: "credits held for answers that are being written: a sum of the wallet; what became of them is in the ledger",
  model_accounts: "the last day on which each model was used, which the receipts say",
  payment_checks: "when payments were last checked, which the activity says",
  pending_sign_ins: "for ten minutes, while a sign-in waits for its second factor",
  put_off_needs: "until when the team put off what it has to do, for a month at most",
  refused_sends: "the times of the last refused sends, for a minute",
  settings: "which admin changed a setting of the product",
  usage_days: "sums by day and model of the answers, whose receipts are there",
};

test("every table that names a person is in a section", async () => {
  const texts = sections.map(({ rows }) => rows(uuidv7()).compile(product.db).sql).join("\n");
  const { rows } = await sql<{ name: string }>`select distinct c.conrelid::regclass::text as name from pg_constraint c
    where c.contype = 'f' and c.confrelid in ('users'::regclass, 'billing_accounts'::regclass, 'wallets'::regclass, 'audit_people'::regclass)
    order by 1`.execute(product.db);
  const missing = rows.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(texts));
  expect(missing).toEqual(Object.keys(leftOut));
});

test("asked twice at once, one is made; the mail names no file; a fourth in a day has to wait", async () => {
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(new Set(answers.map((answer) => answer.json<LatestExport>().latest?.id)).size).toBe(1);
  expect((await latest())?.status).toBe("making");
  await runFileJobs();
  const ready = await latest();
  expect(ready).toMatchObject({ status: "ready", bytes: expect.any(Number) });
  const mails = await product.db
    .selectFrom("mails")
    .selectAll()
    .where("template", "=", "export-ready")
    .where("user_id", "=", ada.user.id)
    .execute();
  expect(mails.map(({ recipient, parameters }) => [recipient, parameters])).toEqual([[ada.user.email, { expiresAt: ready?.expiresAt }]]);
  await made();
  await made();
  const refused = await ask();
  expect([refused.statusCode, refused.json().code]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(80_000);
});

test("a job that runs twice makes one file and one mail", async () => {
  const id = await askedId();
  await makeExport(product.deps, id);
  await makeExport(product.deps, id);
  const mails = await product.db.selectFrom("mails").select("id").where("key", "=", `export:${id}`).execute();
  expect(mails).toHaveLength(1);
});

test("a try that fails is shown, leaves no file, and the next one makes the export", async () => {
  const before = await storedFiles();
  const id = await askedId();
  const { storage } = product.deps;
  const broken = { ...storage, put: async () => Promise.reject(new Error("the disk is full")) };
  await expect(makeExport({ ...product.deps, storage: broken }, id)).rejects.toThrow("the disk is full");
  expect((await latest())?.status).toBe("failed");
  expect((await download(id)).statusCode).toBe(404);
  expect(await storedFiles()).toEqual(before);
  await runFileJobs();
  expect((await latest())?.status).toBe("ready");
});

test("after 24 hours the file can't be downloaded, and the sweep deletes it", async () => {
  const id = await made();
  const { file_name: name } = await product.db
    .selectFrom("data_exports")
    .select("file_name")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  expect(await storedFiles()).toContain(name);
  await travel(dayMs - 60_000);
  expect((await download(id)).statusCode).toBe(200);
  stopTravel?.();
  await travel(dayMs + 60_000);
  const gone = await download(id);
  expect([gone.statusCode, gone.json().code, (await latest())?.status]).toEqual([410, "export_gone", "expired"]);
  await sweepRetention(product.deps, new AbortController().signal);
  await runFileJobs();
  expect(await storedFiles()).not.toContain(name);
  expect((await download(id)).statusCode).toBe(410);
});

test("an export made while the person writes is a whole file, each row as it was before or after", async () => {
  const conversation = await insertConversation(
    ada.user.id,
    Array.from({ length: 300 }, () => "before"),
  );
  const id = await askedId();
  const writing = sql`update messages set content = 'after' where conversation_id = ${conversation}`.execute(product.db);
  await Promise.all([makeExport(product.deps, id), writing, insertConversation(ada.user.id, ["new"])]);
  const files = readZip((await download(id)).rawPayload);
  const texts = (JSON.parse(files.get("messages.json") ?? "") as { text: string }[]).map(({ text }) => text);
  expect(texts.length).toBeGreaterThanOrEqual(300);
  expect(new Set([...texts, "before", "after", "new"])).toEqual(new Set(["before", "after", "new"]));
});

test("an export that the team has made for a person is mailed to them alone, only they can download it, and its reason is on the log", async () => {
  const admin = await product.join();
  await product.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.user.id).execute();
  const askAs = (id = ada.user.id) =>
    product.post(`/api/admin/people/${id}/export`, { reason: "They asked by mail" }, { headers: headersOf(admin) });
  expect((await askAs()).statusCode).toBe(204);
  await runFileJobs();
  const mails = product.db.selectFrom("mails").select(["recipient", "parameters"]).where("template", "=", "export-ready");
  expect(await mails.where("recipient", "in", [ada.user.email, admin.user.email]).execute()).toEqual([
    { recipient: ada.user.email, parameters: { expiresAt: expect.any(String), variant: "team" } },
  ]);
  const id = (await latest())?.id ?? "";
  expect((await download(id)).statusCode).toBe(200);
  expect((await download(id, admin)).statusCode).toBe(404);
  const activity = (await product.get("/api/account/activity", ada.access_token)).json<{ events: { action: string; details: object }[] }>();
  expect(activity.events.find(({ action }) => action === "export.asked")?.details).toEqual({ by: "team" });
  const log = await product.get("/api/admin/audit?action=export.asked", admin.access_token);
  expect(log.json().rows[0]).toMatchObject({ reason: "They asked by mail", actorId: admin.user.id, subjectEmail: ada.user.email });
  for (let more = 1; more < exportsADay; more += 1) {
    expect((await askAs()).statusCode).toBe(204);
    await runFileJobs();
  }
  expect((await askAs()).json()).toMatchObject({ code: "rate_limited", retryAfterSeconds: expect.any(Number) });
  await product.db.updateTable("users").set({ banned_at: new Date() }).where("id", "=", ada.user.id).execute();
  expect((await askAs()).json().code).toBe("conflict");
  expect((await askAs(uuidv7())).json().code).toBe("not_found");
});

test("with the person every file of their exports goes, also one that was being made", async () => {
  await made();
  const waiting = await askedId();
  const before = await storedFiles();
  expect(before).not.toEqual([]);
  const { storage } = product.deps;
  // The person goes after the file was written and before that is noted, and the job that deletes the file runs before it is there.
  const slow = {
    ...storage,
    put: async (...[name, content, limit]: Parameters<typeof storage.put>) => {
      await product.asOwner(`delete from users where id = '${ada.user.id}'`);
      await runFileJobs();
      return storage.put(name, content, limit);
    },
  };
  await makeExport({ ...product.deps, storage: slow }, waiting);
  const own = await product.db.selectFrom("outbox").select("id").where("job", "=", "delete-file").execute();
  expect(own).toEqual([]);
  expect((await storedFiles()).length).toBe(before.length - 1);
});

test("an export of 10,000 long messages takes the memory of a few of them", async () => {
  const conversation = await insertConversation(ada.user.id, []);
  const textBytes = 9_600;
  await sql`insert into messages (conversation_id, role, content, created_at)
    select ${conversation}, 'user', repeat(md5(i::text), ${textBytes / 32}), now() from generate_series(1, 10000) i`.execute(product.db);
  const id = await askedId();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const seen = [used()];
  const { storage } = product.deps;
  async function* watched(content: AsyncIterable<Uint8Array>) {
    let chunks = 0;
    for await (const chunk of content) {
      chunks += 1;
      if (chunks % 10 === 0) seen.push(used());
      yield chunk;
    }
  }
  const watching = {
    ...storage,
    put: (...[name, content, limit]: Parameters<typeof storage.put>) => storage.put(name, watched(content), limit),
  };
  await makeExport({ ...product.deps, storage: watching }, id);
  const files = readZip((await download(id)).rawPayload);
  expect(files.get("messages.json")?.match(/"conversation"/g)).toHaveLength(10_000);
  // Held together, the texts would take 96 MB; a page of them takes one. The rest is what the collector has not freed yet.
  expect(seen.length).toBeGreaterThan(3);
  // What earlier tests left is freed at any moment, so each figure is compared with the lowest before it.
  const rises = seen.map((bytes, index) => bytes - Math.min(...seen.slice(0, index + 1)));
  expect(Math.max(...rises)).toBeLessThan((10_000 * textBytes) / 2);
});
