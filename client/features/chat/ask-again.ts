import type { Send } from "./chat-store.ts";
import { sendPrompt, threadOf } from "./chat-store.ts";
import type { Again } from "./thread.ts";

/** By the answer asked again or gone on from: the key of a prompt of which nobody knows whether the server has it. */
const unsettledKeys = new Map<string, string>();

/** After these the server may have the prompt all the same. */
const unclear: ReadonlySet<string> = new Set(["network", "unexpected"]);

/**
 * Sends a prompt that never stood in the composer. Sent once more after a lost connection it goes under the same key: it is
 * then the same answer and the same charge.
 */
export async function askAgain(again: Again, send: Pick<Send, "threadKey" | "quotedCredits" | "onStarted">): Promise<void> {
  const { answerId } = again;
  const idempotencyKey = unsettledKeys.get(answerId) ?? crypto.randomUUID();
  unsettledKeys.set(answerId, idempotencyKey);
  const taken = await sendPrompt({ ...send, modelId: again.modelId, prompt: again.prompt, idempotencyKey, again });
  const { refusal } = threadOf(send.threadKey);
  if (taken || (refusal && !unclear.has(refusal.code))) unsettledKeys.delete(answerId);
}
