/** Exports of a person's own data. The person asks for one, the worker makes it, and it can be downloaded for a day before it is deleted. */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { keptMs } from "#domain/periods.ts";
import type { LatestExport } from "../../contract/own-data.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { DataExport } from "../../db/types-own-data.ts";
import type { Deps } from "../../deps.ts";
import { TakenElsewhere } from "../../failures.ts";
import type { StoredFile } from "../../providers/storage/storage.ts";
import { takeLease } from "../../queue/leases.ts";
import { enqueue } from "../../queue/outbox.ts";
import { queueMail } from "../notifications/service.ts";
import { writeArchive } from "./archive.ts";
import * as queries from "./queries.ts";

/** An export reads all data of a person, so we allow only a few a day. */
const dailyExports = 3;
/** More than the largest plan has room for files. */
const maximumBytes = 24 * 1024 ** 3;
/** The lease is renewed while the export is being made. If a worker dies, another one makes it after this time. */
const leaseMs = 15_000;

function shown(row: DataExport | undefined, now: Date): LatestExport {
  if (!row) return { latest: null };
  const { id, status, asked_at, failed_at, expires_at, bytes } = row;
  const isOver = expires_at !== null && expires_at <= now;
  return {
    latest: {
      id,
      status: isOver ? "expired" : status === "making" && failed_at !== null ? "failed" : status,
      askedAt: asked_at.toISOString(),
      expiresAt: expires_at?.toISOString() ?? null,
      bytes,
    },
  };
}

export async function readLatestExport({ db, clock }: Pick<Deps, "db" | "clock">, userId: string): Promise<LatestExport> {
  return shown(await queries.selectLatestExport(db, userId), clock.now());
}

async function assertFewToday(executor: Executor, userId: string, now: Date): Promise<void> {
  const asked = await queries.selectAskedSince(executor, userId, addMilliseconds(now, -dayMs));
  const oldest = asked.at(-dailyExports);
  if (!oldest) return;
  const retryAfterSeconds = Math.ceil((oldest.getTime() + dayMs - now.getTime()) / 1_000);
  throw new DomainError("rate_limited", "There were several exports today. Try again tomorrow", { retryAfterSeconds });
}

/**
 * Begins an export. While one is being made it returns that one; if the worker had given that up, the worker tries again. Throws `rate_limited`
 * with retryAfterSeconds.
 */
export async function askForExport(
  { db, clock }: Pick<Deps, "db" | "clock">,
  { userId, network }: { userId: string; network: string },
): Promise<LatestExport> {
  return inTransaction(db, async (trx) => {
    const now = clock.now();
    await queries.lockPerson(trx, userId);
    const before = await queries.selectLatestExport(trx, userId);
    if (before?.status === "making") {
      await enqueue(trx, "make-export", { exportId: before.id }, before.id);
      return shown(before, now);
    }
    await assertFewToday(trx, userId, now);
    const row = await queries.insertExport(trx, userId, now);
    await enqueue(trx, "make-export", { exportId: row.id }, row.id);
    await recordAct(trx, { actor: userId, subject: userId, action: "export.asked", network, details: {} });
    return shown(row, now);
  });
}

type MakingDeps = Pick<Deps, "config" | "db" | "clock" | "storage">;

async function store(deps: MakingDeps, { id, user_id }: DataExport, fileName: string, lost: AbortSignal): Promise<void> {
  const madeAt = deps.clock.now();
  const archive = await writeArchive(deps, { userId: user_id, site: deps.config.publicUrl.host, madeAt }, lost);
  const bytes = await deps.storage.put(fileName, archive, maximumBytes);
  const isNeeded = await inTransaction(deps.db, async (trx) => {
    const now = deps.clock.now();
    const expiresAt = addMilliseconds(now, keptMs.exportFiles);
    const isFirst = await queries.markReady(trx, id, { readyAt: now, expiresAt, bytes });
    if (!isFirst) return (await queries.selectExport(trx, id)) !== undefined;
    const { email, language } = await queries.selectRecipient(trx, user_id);
    const parameters = { expiresAt: expiresAt.toISOString() };
    await queueMail(trx, { key: `export:${id}`, userId: user_id, recipient: email, template: "export-ready", language, parameters }, now);
    return true;
  });
  // The person was deleted meanwhile. The job that deletes the file may have run before the file was there.
  if (!isNeeded) await deps.storage.delete(fileName);
}

/** Makes the file and tells the person. Does nothing if it was made, or the person is gone. Throws TakenElsewhere while another worker makes it. */
export async function makeExport(deps: MakingDeps, exportId: string): Promise<void> {
  const lease = await takeLease(deps.db, { table: "data_exports", key: exportId }, leaseMs);
  const row = await queries.selectExport(deps.db, exportId);
  if (row?.status !== "making" || row.file_name === null) return lease?.end();
  if (!lease) throw new TakenElsewhere("another worker is making this export");
  const { file_name: fileName } = row;
  try {
    await lease.whileHeld((lost) => store(deps, row, fileName, lost));
  } catch (error) {
    await queries.markFailed(deps.db, exportId, deps.clock.now()).catch(() => {});
    await lease.end().catch(() => {});
    throw error;
  }
}

/** The file of one of the person's exports. Throws `not_found`, and `export_gone` once its time is over. */
export async function openExport(
  { db, clock, storage }: Pick<Deps, "db" | "clock" | "storage">,
  { userId, network }: { userId: string; network: string },
  exportId: string,
): Promise<StoredFile> {
  const row = await queries.selectExportOf(db, userId, exportId);
  if (!row || row.status === "making") throw new DomainError("not_found", "There is no such export");
  const isOver = row.expires_at !== null && row.expires_at <= clock.now();
  const file = isOver || row.file_name === null ? undefined : await storage.get(row.file_name);
  if (!file) throw new DomainError("export_gone", "This export was deleted. You can ask for a new one");
  try {
    await recordAct(db, { actor: userId, subject: userId, action: "export.downloaded", network, details: {} });
  } catch (error) {
    file.content.destroy();
    throw error;
  }
  return file;
}

/** Deletes the exports of somebody who is deleting their account, with their files. */
export async function dropExports(trx: Trx, userId: string): Promise<void> {
  await queries.dropExports(trx, userId);
}
