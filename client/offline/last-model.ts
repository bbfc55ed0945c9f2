/** Keeps the model that a person used last on this device. New conversations start with it, also after a reload. */
import type { Kind } from "./store.ts";
import { isRecord, readStored, writeStored } from "./store.ts";

const kind: Kind<{ modelId: string }> = {
  version: 1,
  stamped: true,
  read: (stored) => (isRecord(stored) && typeof stored.modelId === "string" ? { modelId: stored.modelId } : undefined),
};

const keyOf = (userId: string) => `lastModel:${userId}`;

export async function readLastModel(userId: string): Promise<string | null> {
  return (await readStored(kind, keyOf(userId)))?.modelId ?? null;
}

export async function keepLastModel(userId: string, modelId: string): Promise<void> {
  await writeStored(kind, keyOf(userId), { modelId });
}
