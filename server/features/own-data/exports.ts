/** Exports of a person's own data. The person asks for one, the worker makes it, and it can be downloaded for a day before it is deleted. */
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import { keptMs } from "#domain/kept-periods.ts";
import { exportsADay } from "#domain/periods.ts";
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
import type { Clerk } from "../team/service.ts";
import { writeArchive } from "./archive.ts";
import * as queries from "./queries.ts";

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
  const oldest = asked.at(-exportsADay);
  if (!oldest) return;
  const retryAfterSeconds = Math.ceil((oldest.getTime() + dayMs - now.getTime()) / 1_000);
  throw new DomainError("rate_limited", "There were several exports today. Try again tomorrow", { retryAfterSeconds });
}

interface Act {
  userId: string;
  reason: string;
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

/**
 * A team member begins an export for a person who asked by mail. The mail and the file are for that person alone, who has to be signed in
 * to download it. Does nothing while one is being made. Throws `not_found`, `conflict` if the person can't sign in, and `rate_limited`.
 */
export async function askForPerson({ db, clock }: Pick<Deps, "db" | "clock">, clerk: Clerk, { userId, reason }: Act): Promise<void> {
  await inTransaction(db, async (trx) => {
    const now = clock.now();
    const person = await queries.lockExistingPerson(trx, userId);
    if (!person) throw new DomainError("not_found", "There is no such account");
    if (person.banned_at !== null || person.delete_at !== null)
      throw new DomainError("conflict", "This person can't sign in, so they could not download the export");
    const before = await queries.selectLatestExport(trx, userId);
    const isMaking = before?.status === "making";
    if (!isMaking) await assertFewToday(trx, userId, now);
    const { id: exportId } = isMaking ? before : await queries.insertExport(trx, userId, now, true);
    await enqueue(trx, "make-export", { exportId }, exportId);
    const details = { by: "team" } as const;
    await recordAct(trx, { actor: clerk.userId, subject: userId, action: "export.asked", network: clerk.network, details, reason });
  });
}

type MakingDeps = Pick<Deps, "config" | "db" | "clock" | "storage">;

async function store(deps: MakingDeps, { id, user_id, by_team }: DataExport, fileName: string, lost: AbortSignal): Promise<void> {
  const madeAt = deps.clock.now();
  const archive = await writeArchive(deps, { userId: user_id, site: deps.config.publicUrl.host, madeAt }, lost);
  const bytes = await deps.storage.put(fileName, archive, maximumBytes);
  const isNeeded = await inTransaction(deps.db, async (trx) => {
    const now = deps.clock.now();
    const expiresAt = addMilliseconds(now, keptMs.exportFiles);
    const isFirst = await queries.markReady(trx, id, { readyAt: now, expiresAt, bytes });
    if (!isFirst) return (await queries.selectExport(trx, id)) !== undefined;
    const { email, language } = await queries.selectRecipient(trx, user_id);
    const parameters = { expiresAt: expiresAt.toISOString(), ...(by_team && { variant: "team" as const }) };
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
