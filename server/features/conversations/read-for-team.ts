/** An answer and what led to it, as the team reads it. The caller has checked that its person allows that. */
import { readAtOnce } from "#domain/support-access.ts";
import type { Part } from "../../contract/generations/generations.ts";
import type { ReadAnswer, ReadMessage, ReadPart } from "../../contract/support-access.ts";
import type { Trx } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import { readAnswers, readKept } from "../generations/service.ts";
import * as queries from "./queries.ts";

type Shown = Omit<ReadPart, "place">;

const numbered = (parts: readonly Shown[]): ReadPart[] => parts.map((part, index) => ({ place: index + 1, ...part }));

/** Files are named, and can't be opened from here. */
function shownPart(part: Part): Shown[] {
  switch (part.kind) {
    case "text":
      return [{ kind: "text", text: part.text }];
    case "sources":
      return part.sources.map(({ title, url }) => ({ kind: "source", text: title === null ? url : `${title} (${url})` }));
    case "segments":
      // The words of a transcript are a text, too.
      return [];
    case "picture":
      return [{ kind: "picture", text: part.alternative }];
    case "clip":
    case "sound":
      return [{ kind: part.kind, text: null }];
  }
}

function question(text: string, attachments: readonly Attachment[] | null): Shown[] {
  return [...(attachments ?? []).map(({ name }) => ({ kind: "file" as const, text: name })), { kind: "text", text }];
}

/** Throws `not_found` for an answer that is not this person's, and `answer_gone` if its text was deleted. */
export async function readUpTo(trx: Trx, userId: string, answerId: string): Promise<Omit<ReadAnswer, "until">> {
  // Locked before anything is read: if the person is deleting it at this moment, that ends first and nothing is left to read.
  const conversation = await queries.lockConversationOf(trx, userId, answerId);
  const own = await readKept(trx, userId, answerId);
  if (!conversation) {
    const parts = numbered(own.parts.flatMap(shownPart));
    const alone: ReadMessage = { id: own.generationId, role: "assistant", at: own.createdAt, model: own.modelId, parts };
    return { title: null, messages: [alone], isCut: false };
  }
  const branch = await queries.selectBranch(trx, own.generationId, readAtOnce + 1);
  const answers = await readAnswers(
    trx,
    branch.flatMap(({ generation_id: id }) => id ?? []),
  );
  const messages = branch.slice(-readAtOnce).map(({ id, role, generation_id, content, attachments, created_at: at }): ReadMessage => {
    const answer = answers.get(generation_id ?? "");
    const parts = numbered(answer ? answer.parts.flatMap(shownPart) : question(content ?? "", attachments));
    return { id, role, at: at.toISOString(), model: answer?.receipt.modelId ?? null, parts };
  });
  return { title: conversation.title, messages, isCut: branch.length > readAtOnce };
}
