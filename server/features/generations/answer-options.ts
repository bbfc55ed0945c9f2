/**
 * What an answer was asked for beside words: how pictures and clips are made, what is read aloud, what is written down. It is a column of the answer's
 * row; pictures stand there as they are, the others under their names.
 */
import { DomainError } from "#domain/errors.ts";
import type { PictureOptions, Receipt } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import { keepPictureOptions } from "./picture-options.ts";

export type AnswerOptions = Pick<Receipt, "picture" | "clip" | "speech" | "recording">;

export function toStoredOptions({ picture, ...others }: AnswerOptions): object {
  return picture ?? others;
}

export function fromStoredOptions(stored: object | null): AnswerOptions {
  if (!stored) return {};
  const isNamed = ["clip", "speech", "recording"].some((name) => name in stored);
  return isNamed ? (stored as AnswerOptions) : { picture: stored as PictureOptions };
}

interface Asked {
  id: string;
  userId: string;
  turn: { conversationId: string } | null;
}

/** Writes the options to the row that was just added. Throws `not_found` if the answer that is to be read aloud was deleted meanwhile. */
export async function keepOptions(executor: Executor, asked: Asked, options: AnswerOptions): Promise<void> {
  const { picture, clip, speech } = options;
  // A clip's are written with its job.
  if (clip) return;
  if (picture) return keepPictureOptions(executor, asked, picture);
  if (speech?.reads !== undefined) {
    // Deleting it waits for this lock, and then finds the row that refers to it.
    const read = await executor
      .selectFrom("generations")
      .select("id")
      .where("id", "=", speech.reads)
      .where("user_id", "=", asked.userId)
      .where("erased_at", "is", null)
      .forShare()
      .executeTakeFirst();
    if (!read) throw new DomainError("not_found", "This answer was deleted meanwhile");
  }
  await executor
    .updateTable("generations")
    .set({ options: JSON.stringify(toStoredOptions(options)) })
    .where("id", "=", asked.id)
    .execute();
}

/** The latest answer in which this one was read aloud, or is being read. */
export async function selectReading(executor: Executor, userId: string, readId: string): Promise<string | undefined> {
  const row = await executor
    .selectFrom("generations")
    .select("id")
    .where("reads_id", "=", readId)
    .where("user_id", "=", userId)
    .where("erased_at", "is", null)
    .where("status", "in", ["streaming", "completed"])
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}
