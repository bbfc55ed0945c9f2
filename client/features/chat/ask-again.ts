import { sendPrompt, threadOf } from "./chat-store.ts";
import type { Send } from "./send.ts";
import type { Again } from "./thread.ts";

/** By prompt and place: the key of a send if we don't know whether the server received it. */
const unsettledKeys = new Map<string, string>();

/** After these errors the server may still have received the prompt. */
const unclear: ReadonlySet<string> = new Set(["network", "unexpected"]);

/**
 * Sends a prompt that did not come from the composer. After a lost connection it is sent again with the same key, so there is one
 * answer and one charge.
 */
export async function askAgain(
  again: Again,
  send: Pick<Send, "threadKey" | "quotedCredits" | "confirmed" | "onStarted">,
): Promise<boolean> {
  const asked = JSON.stringify([send.threadKey, send.quotedCredits, again]);
  const idempotencyKey = unsettledKeys.get(asked) ?? crypto.randomUUID();
  unsettledKeys.set(asked, idempotencyKey);
  const { modelId, prompt, attached, picture, clip, speech } = again;
  const taken = await sendPrompt({ ...send, modelId, prompt, attached, picture, clip, speech, idempotencyKey, again });
  const { refusal } = threadOf(send.threadKey);
  if (taken || (refusal && !unclear.has(refusal.code))) unsettledKeys.delete(asked);
  return taken;
}
