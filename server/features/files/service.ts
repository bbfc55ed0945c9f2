/**
 * The files of people: what they attach to questions, and what models make for them (docs/decisions/0065). A row is written before the bytes
 * and deleted before them, so no bytes are forgotten: those that a crash left behind have a row that a sweep deletes, and a trigger writes
 * the job that deletes the bytes of a deleted row.
 */
import { Readable } from "node:stream";
import { validate as isUuid, v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import { storageBytesOf } from "#domain/file-space.ts";
import type { FileType } from "#domain/files.ts";
import { fileLimits, fileTypeOf, headBytes, tidyFileName } from "#domain/files.ts";
import type { FileInfo } from "../../contract/files.ts";
import { parseCursor, toCursor } from "../../db/cursors.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { ByteRange, StoredFile } from "../../providers/storage/storage.ts";
import { FileTooLarge } from "../../providers/storage/storage.ts";
import { enqueue } from "../../queue/outbox.ts";
import { readEntitlement } from "../billing/entitlement.ts";
import * as queries from "./queries.ts";

type FileDeps = Pick<Deps, "db" | "storage" | "clock">;

export interface NewFile {
  /** Whose file it is. Only they can read it, and it takes some of their space. */
  userId: string;
  /**
   * An attachment is refused if there is no room for it. What a model made was paid for and is kept in any case: call `assertRoom` before the
   * model is asked.
   */
  kind: "attachment" | "output";
  /** The answer that makes an output. The file goes with the answer's text. */
  generationId?: string;
  /** What the owner calls it. It gets the ending of its content. */
  name: string;
  /** In pixels, of a picture or a clip. */
  width?: number;
  height?: number;
  durationMs?: number;
  pages?: number;
  /** Called after the last byte, for what is known only then. If it throws, the file is refused. */
  measure?(): Pick<NewFile, "width" | "height" | "durationMs">;
  /** The type, if the caller has read the whole file: a container for clips may have only sound. Without it the first bytes decide. */
  type?: FileType;
  text?: queries.DocumentText;
}

const outputBytes = fileLimits.outputMegabytes * 1024 * 1024;

export function unsupported(): DomainError {
  return new DomainError("file_unsupported", "This kind of file is not supported");
}

export function tooLarge(megabytes: number): DomainError {
  return new DomainError("file_too_large", `A file may have ${megabytes} MB`, { megabytes });
}

function toInfo(row: queries.FoundFile): FileInfo {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    contentType: row.content_type ?? "",
    bytes: row.bytes,
    width: row.width,
    height: row.height,
    durationMs: row.duration_ms,
    pages: row.pages,
    textBytes: row.text_bytes ?? null,
    pageEnds: row.page_ends ?? null,
    tokenEnds: row.token_ends ?? null,
    generationId: row.generation_id,
    createdAt: row.created_at.toISOString(),
  };
}

/** Reads enough of the content to tell its type, and returns it with the whole content. */
async function withHead(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ head: Uint8Array; all: AsyncIterable<Uint8Array> }> {
  if (content instanceof Uint8Array) return { head: content.subarray(0, headBytes), all: Readable.from([content], { objectMode: false }) };
  const rest = content[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let bytes = 0; bytes < headBytes; ) {
    const next = await rest.next();
    if (next.done) break;
    first.push(next.value);
    bytes += next.value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* first;
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  }
  return { head: Buffer.concat(first).subarray(0, headBytes), all: all() };
}

/**
 * Keeps a file and returns it once all of its bytes are safe. Throws `file_unsupported` for content of a type that we don't serve,
 * `file_too_large`, for an attachment `storage_full`, and `generation_ended` if the answer that made it was deleted meanwhile. If it
 * throws, nothing is kept.
 */
export async function storeFile(deps: FileDeps, file: NewFile, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<FileInfo> {
  const { userId, kind, generationId = null } = file;
  const { head, all } = await withHead(content);
  const type = file.type ?? fileTypeOf(head);
  if (type === undefined || type === "image/heic") throw unsupported();
  const size = content instanceof Uint8Array ? content.length : 0;
  const now = deps.clock.now();
  const id = uuidv7();
  const limit = kind === "attachment" ? storageBytesOf((await readEntitlement(deps.db, userId, now)).tier) : null;
  const name = tidyFileName(file.name, type);
  const outcome = await queries.reserve(deps.db, { id, userId, kind, generationId, name, bytes: size, limit, now });
  if (outcome === "full") throw new DomainError("storage_full", "There is no room for this file. Delete others first");
  if (outcome === "gone") throw gone();
  const storedName = await queries.selectStoredName(deps.db, id);
  try {
    const bytes = await deps.storage.put(storedName, all, outputBytes);
    const { width = null, height = null, durationMs = null, pages = null } = { ...file, ...file.measure?.() };
    const measures = { width, height, duration_ms: durationMs, pages };
    const row = await inTransaction(deps.db, (trx) => queries.markStored(trx, id, { ...measures, content_type: type, bytes }, file.text));
    if (row) return toInfo(row);
  } catch (error) {
    // The job that deletes the bytes is written with it.
    await queries.forget(deps.db, id).catch(() => {});
    throw error instanceof FileTooLarge ? tooLarge(fileLimits.outputMegabytes) : error;
  }
  // The row went while the bytes were being stored, and the job that deletes them may have run before they were there.
  await deps.storage.delete(storedName);
  throw gone();
}

function gone(): DomainError {
  return new DomainError("generation_ended", "This was deleted meanwhile");
}

/** Throws `storage_full` if nothing can be added to the person's files. */
export async function assertRoom(deps: Pick<Deps, "db" | "clock">, userId: string): Promise<void> {
  const { usedBytes, allowedBytes } = await readSpace(deps, userId);
  if (usedBytes >= allowedBytes) throw new DomainError("storage_full", "There is no room for another file. Delete others first");
}

/** How much the person's files take, and how much they may. */
export async function readSpace({ db, clock }: Pick<Deps, "db" | "clock">, userId: string) {
  const { tier } = await readEntitlement(db, userId, clock.now());
  return { usedBytes: await queries.selectUsedBytes(db, userId), allowedBytes: storageBytesOf(tier) };
}

export interface OpenedFile extends StoredFile {
  info: FileInfo;
}

function notFound(): DomainError {
  return new DomainError("not_found", "There is no such file");
}

/** Throws `not_found` for another person's file. */
export async function findFile(executor: Executor, userId: string, id: string): Promise<FileInfo> {
  const row = await queries.selectFile(executor, userId, id);
  if (!row) throw notFound();
  return toInfo(row);
}

/**
 * Opens a file, or a range of it. Read the content to the end or destroy it. Throws `not_found` for another person's file, and for one that was
 * deleted.
 */
export async function openFile(deps: Pick<Deps, "db" | "storage">, userId: string, id: string, range?: ByteRange): Promise<OpenedFile> {
  const row = await queries.selectFile(deps.db, userId, id);
  const stored = row && (await deps.storage.get(row.stored_name, range));
  if (row && stored) return { ...stored, info: toInfo(row) };
  // Deleted between the two reads, or lost.
  if (row && (await queries.selectFile(deps.db, userId, id))) throw new Error(`the storage lacks the file ${row.stored_name}`);
  throw notFound();
}

/** Deletes those of the files that are the person's, and returns how many. Nobody can read them any more, and a job deletes the bytes. */
export async function deleteFiles(executor: Executor, userId: string, ids: readonly string[]): Promise<number> {
  return queries.deleteFiles(executor, userId, ids);
}

/**
 * Deletes an attachment of the person's that no question was sent with, and returns how many that were. A start that sends it has locked its
 * row: whoever deletes waits, and then finds it sent.
 */
export async function deleteUnsent(executor: Executor, userId: string, id: string): Promise<number> {
  return queries.deleteUnsent(executor, userId, id);
}

/** Throws `validation_failed` for an invalid cursor. */
export async function listFiles(
  deps: Pick<Deps, "db" | "clock">,
  userId: string,
  { kind, cursor, limit = 30 }: { kind: FileInfo["kind"]; cursor?: string | undefined; limit?: number | undefined },
) {
  const after = cursor === undefined ? undefined : parseCursor(cursor, ([id = ""]) => (isUuid(id) ? id : undefined));
  const rows = await queries.selectFiles(deps.db, userId, kind, after, limit);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { files: rows.map(toInfo), nextCursor: last ? toCursor(last.id) : null, ...(await readSpace(deps, userId)) };
}

const pageSize = 100;

/** All of the person's files, the oldest of each kind first. */
export async function* allFiles(executor: Executor, userId: string): AsyncGenerator<FileInfo> {
  for (let after: queries.FoundFile | undefined; ; ) {
    const rows = await queries.selectFilesAfter(executor, userId, after, pageSize);
    yield* rows.map(toInfo);
    after = rows.at(-1);
    if (rows.length < pageSize) return;
  }
}

/** After two failures in a row the storage may be away, and each further try could take as long as its time-out. */
const mostFailuresInARow = 2;

/**
 * Deletes bytes whose rows are gone. Doing it twice does no harm. A file that can't be deleted gets a job of its own, so that it doesn't hold
 * up the others; so do those that were not tried because the storage seems to be away.
 */
export async function deleteBytes({ db, storage, log }: Pick<Deps, "db" | "storage" | "log">, names: readonly string[]): Promise<void> {
  const left: string[] = [];
  let failuresInARow = 0;
  for (const name of names) {
    const isDeleted =
      failuresInARow < mostFailuresInARow &&
      (await storage.delete(name).then(
        () => true,
        (error: unknown) => {
          log.warn({ err: error, file: name }, "a file could not be deleted and gets a job of its own");
          return false;
        },
      ));
    if (isDeleted) failuresInARow = 0;
    else {
      failuresInARow += 1;
      left.push(name);
    }
  }
  if (left.length === 0) return;
  await inTransaction(db, async (trx) => {
    for (const name of left) await enqueue(trx, "delete-file", { name }, name);
  });
}

/** Those of the files that this person may attach to a question in this conversation (undefined: a new one), by id. */
export async function findAttachable(
  executor: Executor,
  userId: string,
  conversationId: string | undefined,
  ids: readonly string[],
): Promise<Map<string, FileInfo>> {
  const rows = await queries.selectAttachable(executor, userId, conversationId, ids);
  return new Map(rows.map((row) => [row.id, toInfo(row)]));
}

/** Those of the files that a model made for the person and that are still there, in no order. */
export async function findOutputs(executor: Executor, userId: string, ids: readonly string[]): Promise<FileInfo[]> {
  return (await queries.selectOutputs(executor, userId, ids)).map(toInfo);
}

/** The texts of those of the documents that are the person's, by id. */
export async function readTexts(executor: Executor, userId: string, ids: readonly string[]): Promise<Map<string, string>> {
  return queries.selectTexts(executor, userId, ids);
}
