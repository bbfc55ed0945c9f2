/** Decides where in a conversation an answer goes, and which of the conversation's messages go to the model. */
import { v7 as uuidv7 } from "uuid";
import type { Model } from "#domain/models.ts";
import type { CreateGeneration } from "../../contract/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import { selectBranch, selectQuestion } from "./branches.ts";
import type { ChatMessage } from "./history.ts";
import { historyBudget, trimHistory } from "./history.ts";
import type { PlannedTurn } from "./queries.ts";

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

type Request = Pick<CreateGeneration, "conversationId" | "parentId" | "questionId">;

/** Returns undefined if the request names a conversation, question or answer that this person does not have. A null `prompt` asks `questionId` again. */
export async function planTurn(
  executor: Executor,
  userId: string,
  request: Request,
  prompt: string | null,
  model: Model,
): Promise<Plan | undefined> {
  const { conversationId, parentId, questionId } = request;
  if (conversationId === undefined) {
    if (prompt === null || typeof parentId === "string") return undefined;
    const ids = { conversationId: uuidv7(), questionId: uuidv7(), answerId: uuidv7() };
    return { turn: { ...ids, isNew: true, title: titleOf(prompt), parentId: null, prompt }, ...trimHistory([], 0, prompt) };
  }
  const asked = questionId === undefined ? undefined : await selectQuestion(executor, { conversationId, userId, questionId });
  const words = prompt ?? asked?.prompt;
  if (words === undefined) return undefined;
  const endId = asked ? asked.parentId : parentId;
  const branch = await selectBranch(executor, { conversationId, userId, endId }, historyBudget(model, words));
  if (!branch) return undefined;
  return {
    turn: {
      conversationId,
      isNew: false,
      title: "",
      parentId: branch.endId,
      questionId: questionId ?? uuidv7(),
      answerId: uuidv7(),
      prompt,
    },
    ...trimHistory(branch.messages, branch.total, words),
  };
}
