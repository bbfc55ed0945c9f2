/** What the protocols that read texts aloud have in common. */
import type { ModelCall } from "./protocol.ts";
import { plainText } from "./protocol.ts";

/** A piece of a text is two minutes of sound, which is at most 5 MB in the best quality of an MP3. */
export const mostSoundBytes = 16 * 1024 * 1024;
/** Until the response begins, which one of our providers does only when all of it is spoken. */
export const speechTimeoutMs = 3 * 60_000;

export function inputOf({ messages, speech }: ModelCall): { input: string; voice: string } {
  if (!speech) throw new Error("a model that reads aloud was asked without a voice");
  return { input: plainText(messages.at(-1)?.parts ?? []) ?? "", voice: speech.voice };
}
