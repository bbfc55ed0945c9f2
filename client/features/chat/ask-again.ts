import type { Send } from "./chat-store.ts";
import { sendPrompt, threadOf } from "./chat-store.ts";
import type { Again } from "./thread.ts";

/** By what is asked and where: the key of a prompt of which nobody knows whether the server has it. */
const unsettledKeys = new Map<string, string>();

/** After these the server may have the prompt all the same. */
const unclear: ReadonlySet<string> = new Set(["network", "unexpected"]);

/**
 * Sends a prompt that never stood in the composer. Sent once more after a lost connection it goes under the same key: it is
 * then the same answer and the same charge.
 */
export async function askAgain(again: Again, send: Pick<Send, "threadKey" | "quotedCredits" | "onStarted">): Promise<boolean> {
  const asked = JSON.stringify([send.threadKey, send.quotedCredits, again]);
  const idempotencyKey = unsettledKeys.get(asked) ?? crypto.randomUUID();
  unsettledKeys.set(asked, idempotencyKey);
  const taken = await sendPrompt({ ...send, modelId: again.modelId, prompt: again.prompt, idempotencyKey, again });
  const { refusal } = threadOf(send.threadKey);
  if (taken || (refusal && !unclear.has(refusal.code))) unsettledKeys.delete(asked);
  return taken;
}
