/** What has gone after it had waited, noted by form-queue.ts under `sent-form:<id>`. */
import { sentFormMs } from "#domain/periods.ts";
import { sentPrefix } from "./form-queue.ts";
import type { Kind } from "./store.ts";
import { isRecord, listStored, removeStored } from "./store.ts";

/** A form that waited and has gone; whoever wrote it may have been away. */
export interface SentForm {
  id: string;
  owner: string | null;
  queuedAtMs: number;
  sentAtMs: number;
}

/** For so long it is said that it went. */
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

/** Of what went more than a day ago nothing stays; at every start, whether or not anybody looks at what has gone. */
export async function dropOldSentForms(): Promise<void> {
  for (const { id } of (await listStored(kind, sentPrefix)).filter(isOld)) await removeStored(kind, sentPrefix + id);
}

/** The latest first. */
export async function listSentForms(): Promise<SentForm[]> {
  await dropOldSentForms();
  return (await listStored(kind, sentPrefix)).sort((one, other) => other.sentAtMs - one.sentAtMs);
}
