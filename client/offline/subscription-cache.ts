import type { SubscriptionCheck } from "#contract/billing.ts";
import { readStored, writeStored } from "./store.ts";

/** The last state the server told, and when (milliseconds of this device's clock). */
export interface CachedCheck {
  check: SubscriptionCheck;
  checkedAtMs: number;
}

/** Spec §3: cached locally per user id. */
function keyOf(userId: string): string {
  return `subscription:${userId}`;
}

export async function readCachedCheck(userId: string): Promise<CachedCheck | undefined> {
  return await readStored<CachedCheck>(keyOf(userId));
}

export async function writeCachedCheck(userId: string, cached: CachedCheck): Promise<void> {
  await writeStored(keyOf(userId), cached);
}
