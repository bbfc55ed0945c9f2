/** Notes of queued forms that were sent; form-queue.ts writes them under `sent-form:<id>`. */
import { sentFormMs } from "#domain/periods.ts";
import { sentPrefix } from "./form-queue.ts";
import type { Kind } from "./store.ts";
import { isRecord, listStored, removeStored } from "./store.ts";

/** A queued form that was sent, possibly while its writer was away. */
export interface SentForm {
  id: string;
  owner: string | null;
  queuedAtMs: number;
  sentAtMs: number;
}

/** How long the note is shown. */
const toldForMs = sentFormMs;

const kind: Kind<SentForm> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    if (!isRecord(stored)) return undefined;
    const { id, owner, queuedAtMs, sentAtMs } = stored;
    if (typeof id !== "string" || typeof queuedAtMs !== "number" || typeof sentAtMs !== "number") return undefined;
    return { id, owner: typeof owner === "string" ? owner : null, queuedAtMs, sentAtMs };
  },
};

const isOld = ({ sentAtMs }: SentForm) => Date.now() - sentAtMs >= toldForMs;

/** Deletes notes older than a day. Called at every start, whether or not a page shows the notes. */
export async function dropOldSentForms(): Promise<void> {
  for (const { id } of (await listStored(kind, sentPrefix)).filter(isOld)) await removeStored(kind, sentPrefix + id);
}

/** The latest first. */
export async function listSentForms(): Promise<SentForm[]> {
  await dropOldSentForms();
  return (await listStored(kind, sentPrefix)).sort((one, other) => other.sentAtMs - one.sentAtMs);
}
