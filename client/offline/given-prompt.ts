import { givenPromptMs } from "#domain/periods.ts";
import type { Kept, Kind } from "./store.ts";
import { isRecord, readStored, removeStored, writeStored } from "./store.ts";

/** A prompt that was passed in an address: from a guide's card, or shared by another app. */
export interface GivenPrompt {
  text: string;
  modelId: string | null;
}

interface Waiting extends GivenPrompt {
  /** Milliseconds of this device's clock. */
  givenAtMs: number;
}

const visitorsKey = "givenPrompt";
/** Long enough to sign up, confirm the address and choose a plan. Later the person probably wants something else. */
const waitsMs = givenPromptMs;

const kind: Kind<Waiting> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || typeof stored.text !== "string" || typeof stored.givenAtMs !== "number") return undefined;
    const { text, modelId, givenAtMs } = stored;
    return { text, modelId: typeof modelId === "string" ? modelId : null, givenAtMs };
  },
};

/** `owner` is a user id, or null for a signed-out visitor. */
function keyOf(owner: string | null): string {
  return owner === null ? visitorsKey : `${visitorsKey}:${owner}`;
}

/** Moves a visitor's prompt to the person who signs in, so that the next visitor on this device doesn't find it. */
async function claim(owner: string): Promise<void> {
  const brought = await readStored(kind, visitorsKey);
  if (!brought) return;
  await writeStored(kind, keyOf(owner), brought);
  await removeStored(kind, visitorsKey);
}

/** Keeps the prompt for somebody who can't send it yet. Any tab finds it once they can. */
export async function keepGivenPrompt(owner: string | null, prompt: GivenPrompt): Promise<Kept> {
  return await writeStored(kind, keyOf(owner), { ...prompt, givenAtMs: Date.now() });
}

export async function readGivenPrompt(owner: string | null): Promise<GivenPrompt | undefined> {
  if (owner !== null) await claim(owner);
  const waiting = await readStored(kind, keyOf(owner));
  if (!waiting) return undefined;
  const { text, modelId, givenAtMs } = waiting;
  return Math.abs(Date.now() - givenAtMs) <= waitsMs ? { text, modelId } : undefined;
}

/** Called once the prompt is in the owner's composer. */
export async function forgetGivenPrompt(owner: string): Promise<void> {
  await removeStored(kind, keyOf(owner));
}
