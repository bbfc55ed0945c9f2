import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { FileRow, Files } from "../../db/types-files.ts";

export interface Reservation {
  id: string;
  userId: string;
  kind: Files["kind"];
  generationId: string | null;
  name: string;
  bytes: number;
  /** Null: there is always room. */
  limit: number | null;
  now: Date;
}

/** `full`: there is no room. `gone`: the answer that made the file was deleted. */
export async function reserve(executor: Executor, asked: Reservation): Promise<"reserved" | "full" | "gone"> {
  const { rows } = await sql<{ outcome: "reserved" | "full" | "gone" }>`select file_reserve(${asked.id}, ${asked.userId}, ${asked.kind},
    ${asked.generationId}, ${asked.name}, ${asked.bytes}, ${asked.limit}, ${asked.now}) as outcome`.execute(executor);
  return rows[0]?.outcome ?? "gone";
}

export async function selectStoredName(executor: Executor, id: string): Promise<string> {
  const row = await executor.selectFrom("files").select("stored_name").where("id", "=", id).executeTakeFirstOrThrow();
  return row.stored_name;
}

export type Measures = Pick<FileRow, "width" | "height" | "duration_ms" | "pages">;

/** A file with what is known of its text. */
export type FoundFile = FileRow & { text_bytes?: number | null; page_ends?: number[] | null; token_ends?: number[] | null };

/** What models read of a document. */
export interface DocumentText {
  text: string;
  pageEnds: number[] | null;
  tokenEnds: number[];
}

/** Undefined if the row was deleted meanwhile. */
export async function markStored(
  executor: Executor,
  id: string,
  stored: Measures & { content_type: string; bytes: number },
  document: DocumentText | undefined,
): Promise<FoundFile | undefined> {
  const row = await executor.updateTable("files").set(stored).where("id", "=", id).returningAll().executeTakeFirst();
  if (!row || !document) return row;
  const { text, pageEnds, tokenEnds } = document;
  await executor.insertInto("file_texts").values({ file_id: id, text, page_ends: pageEnds, token_ends: tokenEnds }).execute();
  return { ...row, text_bytes: Buffer.byteLength(text), page_ends: pageEnds, token_ends: tokenEnds };
}

const withTexts = (executor: Executor) =>
  executor
    .selectFrom("files")
    .leftJoin("file_texts", "file_texts.file_id", "files.id")
    .selectAll("files")
    .select([sql<number | null>`octet_length(text)`.as("text_bytes"), "page_ends", "token_ends"])
    .where("content_type", "is not", null);

/** Those of the files that are this person's attachments, sent nowhere yet or in this conversation. */
export async function selectAttachable(
  executor: Executor,
  userId: string,
  conversationId: string | undefined,
  ids: readonly string[],
): Promise<FoundFile[]> {
  return withTexts(executor)
    .where("files.id", "in", ids)
    .where("user_id", "=", userId)
    .where("kind", "=", "attachment")
    .where((where) =>
      where.or([where("conversation_id", "is", null), ...(conversationId ? [where("conversation_id", "=", conversationId)] : [])]),
    )
    .execute();
}

/** Those of the files that a model made for this person. */
export async function selectOutputs(executor: Executor, userId: string, ids: readonly string[]): Promise<FoundFile[]> {
  if (ids.length === 0) return [];
  return withTexts(executor).where("files.id", "in", ids).where("user_id", "=", userId).where("kind", "=", "output").execute();
}

/** The texts of these documents of a person. */
export async function selectTexts(executor: Executor, userId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await executor
    .selectFrom("file_texts")
    .innerJoin("files", "files.id", "file_texts.file_id")
    .select(["files.id", "text"])
    .where("files.id", "in", ids)
    .where("user_id", "=", userId)
    .execute();
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/** Does not find another person's file, nor one that is still being stored. */
export async function selectFile(executor: Executor, userId: string, id: string): Promise<FileRow | undefined> {
  return executor
    .selectFrom("files")
    .selectAll()
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("content_type", "is not", null)
    .executeTakeFirst();
}

export async function selectOwnIds(executor: Executor, userId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await executor
    .selectFrom("files")
    .select("id")
    .where("id", "in", ids)
    .where("user_id", "=", userId)
    .where("content_type", "is not", null)
    .execute();
  return rows.map(({ id }) => id);
}

/** The page after the file `after`, latest first. */
export async function selectFiles(executor: Executor, userId: string, kind: Files["kind"], after: string | undefined, limit: number) {
  const query = withTexts(executor).where("user_id", "=", userId).where("kind", "=", kind).orderBy("files.id", "desc").limit(limit);
  return (after === undefined ? query : query.where("files.id", "<", after)).execute();
}

/** All of a person's files, the oldest of each kind first, a page at a time. */
export async function selectFilesAfter(executor: Executor, userId: string, after: Pick<FileRow, "id" | "kind"> | undefined, limit: number) {
  let query = executor
    .selectFrom("files")
    .selectAll()
    .where("user_id", "=", userId)
    .where("content_type", "is not", null)
    .orderBy("kind")
    .orderBy("id")
    .limit(limit);
  if (after !== undefined) query = query.where(sql<boolean>`(kind, id) > (${after.kind}, ${after.id}::uuid)`);
  return query.execute();
}

export async function selectUsedBytes(executor: Executor, userId: string): Promise<number> {
  const row = await executor.selectFrom("file_space").select("bytes").where("user_id", "=", userId).executeTakeFirst();
  return row?.bytes ?? 0;
}

/** Returns how many were deleted. A trigger writes the job that deletes the bytes. */
export async function deleteFiles(executor: Executor, userId: string, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const { numDeletedRows } = await executor.deleteFrom("files").where("id", "in", ids).where("user_id", "=", userId).executeTakeFirst();
  return Number(numDeletedRows);
}

/** Only an attachment that was sent nowhere. */
export async function deleteUnsent(executor: Executor, userId: string, id: string): Promise<number> {
  const { numDeletedRows } = await executor
    .deleteFrom("files")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where("kind", "=", "attachment")
    .where("conversation_id", "is", null)
    .where("content_type", "is not", null)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** What a broken upload had reserved. */
export async function forget(executor: Executor, id: string): Promise<void> {
  await executor.deleteFrom("files").where("id", "=", id).where("content_type", "is", null).execute();
}
