import { givenPromptMs } from "#domain/periods.ts";
import type { Kept, Kind } from "./store.ts";
import { isRecord, readStored, removeStored, writeStored } from "./store.ts";

/** A prompt that came with an address: from a guide's card, or shared from another app. */
export interface GivenPrompt {
  text: string;
  modelId: string | null;
}

interface Waiting extends GivenPrompt {
  /** Milliseconds of this device's clock. */
  givenAtMs: number;
}

const visitorsKey = "givenPrompt";
/** It waits through signing up, a mail and the choice of a plan; whoever comes later wants something else. */
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

/** `owner` is a user id, or null for whoever is signed out. */
function keyOf(owner: string | null): string {
  return owner === null ? visitorsKey : `${visitorsKey}:${owner}`;
}

/** What a visitor brought becomes theirs who signs in with it: whoever is here after them does not find it. */
async function claim(owner: string): Promise<void> {
  const brought = await readStored(kind, visitorsKey);
  if (!brought) return;
  await writeStored(kind, keyOf(owner), brought);
  await removeStored(kind, visitorsKey);
}

/** For the one who can't send it yet: it is found again once they can, in whichever tab that is. */
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

/** It stands in the owner's composer now. */
export async function forgetGivenPrompt(owner: string): Promise<void> {
  await removeStored(kind, keyOf(owner));
}
