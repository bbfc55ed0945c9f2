import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Kind } from "./store.ts";
import { isRecord, readStored, writeStored } from "./store.ts";

/** The last check that the server returned, and when (milliseconds of this device's clock). */
export interface CachedCheck {
  check: SubscriptionCheck;
  checkedAtMs: number;
}

/** Checks the fields that screens calculate with or use as keys. The others are only shown as text. */
function isCheck(value: unknown): value is SubscriptionCheck {
  return (
    isRecord(value) &&
    typeof value.subscribed === "boolean" &&
    typeof value.subscription_tier === "string" &&
    typeof value.credits === "number" &&
    (value.subscription_end === null || typeof value.subscription_end === "string")
  );
}

const kind: Kind<CachedCheck> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored) || !isCheck(stored.check) || typeof stored.checkedAtMs !== "number") return undefined;
    return { check: stored.check, checkedAtMs: stored.checkedAtMs };
  },
};

/** Spec §3: cached on the device per user id. */
function keyOf(userId: string): string {
  return `subscription:${userId}`;
}

export async function readCachedCheck(userId: string): Promise<CachedCheck | undefined> {
  return await readStored(kind, keyOf(userId));
}

export async function writeCachedCheck(userId: string, cached: CachedCheck): Promise<void> {
  await writeStored(kind, keyOf(userId), cached);
}
