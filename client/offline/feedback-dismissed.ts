import type { Kept, Kind } from "./store.ts";
import { findStored, writeStored } from "./store.ts";

const key = "feedbackDismissed";
const kind: Kind<true> = { version: 1, stamped: false, read: (stored) => (stored === true ? true : undefined) };

/** True once feedback was sent or dismissed. A value of a newer version counts as well. */
export async function isFeedbackDismissed(): Promise<boolean> {
  return (await findStored(kind, key)).state !== "absent";
}

export async function dismissFeedback(): Promise<Kept> {
  return await writeStored(kind, key, true);
}
