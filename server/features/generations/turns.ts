/** Decides where in a conversation an answer goes, and which of the conversation's messages go to the model. */
import { v7 as uuidv7 } from "uuid";
import { hears } from "#domain/attachments.ts";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import type { CreateGeneration } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import { planAttachments, tokensOf, withinBytes } from "./attached.ts";
import { selectBranch, selectQuestion } from "./branches.ts";
import type { ChatMessage } from "./history.ts";
import { estimateTokens, findTooLong, historyBudget, trimHistory } from "./history.ts";
import { showMade } from "./made.ts";
import type { PlannedTurn } from "./starts.ts";

const titleCodePoints = 80;

/** The first line of the first prompt. */
function titleOf(prompt: string): string {
  return [...(prompt.split(/[\r\n]/, 1)[0] ?? "")].slice(0, titleCodePoints).join("").trim();
}

export interface Plan {
  turn: PlannedTurn;
  messages: ChatMessage[];
  trimmedMessages: number;
}

type Request = Pick<CreateGeneration, "conversationId" | "parentId" | "questionId" | "attachments">;

/** The files of a new question as they are planned, or of a question that is asked again as they were sent. */
async function filesOf(
  executor: Executor,
  userId: string,
  { conversationId, attachments = [] }: Request,
  prompt: string,
  model: Model,
): Promise<Attachment[] | DomainError> {
  return attachments.length === 0 ? [] : planAttachments(executor, model, { userId, conversationId, prompt, ids: attachments });
}

const filed = (attachments: readonly Attachment[]) =>
  attachments.length === 0 ? {} : { attachments, attachmentTokens: tokensOf(attachments) };

const questionOf = (content: string, attachments: readonly Attachment[], pictures: readonly Attachment[] = []) => ({
  content,
  ...(attachments.length > 0 && { attachments }),
  ...(pictures.length > 0 && { pictures }),
});

/**
 * Returns undefined if the request names a conversation, question or answer that this person does not have, and the refusal if the model can't
 * read the files. A null `prompt` asks `questionId` again, with its files.
 */
export async function planTurn(
  executor: Executor,
  userId: string,
  request: Request,
  prompt: string | null,
  model: Model,
): Promise<Plan | DomainError | undefined> {
  const { conversationId, parentId, questionId } = request;
  if (conversationId === undefined) {
    if (prompt === null || typeof parentId === "string") return undefined;
    const files = await filesOf(executor, userId, request, prompt, model);
    if (files instanceof DomainError) return files;
    const ids = { conversationId: uuidv7(), questionId: uuidv7(), answerId: uuidv7() };
    const turn = { ...ids, isNew: true, title: titleOf(prompt), parentId: null, prompt, ...filed(files) };
    return { turn, ...trimHistory([], 0, questionOf(prompt, files)) };
  }
  const asked = questionId === undefined ? undefined : await selectQuestion(executor, { conversationId, userId, questionId });
  const words = prompt ?? asked?.prompt;
  if (words === undefined) return undefined;
  const tooLong = asked && findTooLong(model, words);
  if (tooLong) return tooLong;
  const files = asked ? asked.attachments : await filesOf(executor, userId, request, words, model);
  if (files instanceof DomainError) return files;
  if (asked && files.length > 0 && !hears(model) && estimateTokens(words) + tokensOf(files) > model.inputTokenLimit)
    return new DomainError("attachments_too_large", `${model.name} has no room for the attached files`);
  const endId = asked ? asked.parentId : parentId;
  const budget = historyBudget(model, words, tokensOf(files));
  const branch = await selectBranch(executor, { conversationId, userId, endId }, budget);
  if (!branch) return undefined;
  const made = await showMade(executor, userId, model, branch.messages, budget);
  const { messages, question } = withinBytes(model, made.messages, questionOf(words, files, made.pictures));
  return {
    turn: {
      conversationId,
      isNew: false,
      title: "",
      parentId: branch.endId,
      questionId: questionId ?? uuidv7(),
      answerId: uuidv7(),
      prompt,
      ...(asked ? {} : filed(files)),
    },
    ...trimHistory(messages, branch.total, question),
  };
}
