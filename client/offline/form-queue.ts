/** The queue of forms that wait for a connection, each under `form:<id>`, and notes of the ones sent recently, under `sent-form:<id>`. */
import type { FormFields, FormName } from "./form-drafts.ts";
import { readFields } from "./form-drafts.ts";
import type { Kept, Kind } from "./store.ts";
import { isRecord, listStored, removeStored, writeAllStored, writeStored } from "./store.ts";

/** A form to send. Its id is the Idempotency-Key of every attempt. */
export interface OutgoingForm {
  id: string;
  form: FormName;
  /** The user id of the writer, or null for a signed-out visitor. */
  owner: string | null;
  fields: FormFields;
  /** The content of the honeypot field. */
  website: string;
  /** The language of the acknowledgement mail. */
  language: string;
}

export interface Refusal {
  code: string;
  fields: readonly { field: string; message: string }[];
}

export interface QueuedForm extends OutgoingForm {
  queuedAtMs: number;
  attempts: number;
  /** When the next attempt is due, unless the connection comes back earlier. Milliseconds of this device's clock. */
  dueAtMs: number;
  /** Set once the server has refused the form for good: its writer must change it, and it is not sent again. */
  refusal: Refusal | null;
}

function readRefusal(stored: unknown): Refusal | null {
  if (!isRecord(stored) || typeof stored.code !== "string" || !Array.isArray(stored.fields)) return null;
  const fields = stored.fields.flatMap((fault: unknown) => {
    const named = isRecord(fault) && typeof fault.field === "string" && typeof fault.message === "string";
    return named ? [{ field: fault.field as string, message: fault.message as string }] : [];
  });
  return { code: stored.code, fields };
}

const kind: Kind<QueuedForm> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    const fields = isRecord(stored) ? readFields(stored.fields) : undefined;
    if (!isRecord(stored) || !fields) return undefined;
    const { id, form, owner, website, language, queuedAtMs, attempts, dueAtMs, refusal } = stored;
    if (typeof id !== "string" || (form !== "contact" && form !== "feedback") || typeof language !== "string") return undefined;
    return {
      id,
      form,
      owner: typeof owner === "string" ? owner : null,
      fields,
      website: typeof website === "string" ? website : "",
      language,
      queuedAtMs: typeof queuedAtMs === "number" ? queuedAtMs : 0,
      attempts: typeof attempts === "number" ? attempts : 0,
      dueAtMs: typeof dueAtMs === "number" ? dueAtMs : 0,
      refusal: readRefusal(refusal),
    };
  },
};

const prefix = "form:";

/** In the order in which they were written. */
export async function listQueuedForms(): Promise<QueuedForm[]> {
  const forms = await listStored(kind, prefix);
  return forms.sort((one, other) => one.queuedAtMs - other.queuedAtMs);
}

/** The oldest refused form of that kind by `owner`, and the reason. */
export async function findRefusedForm(form: FormName, owner: string | null): Promise<{ queued: QueuedForm; refusal: Refusal } | undefined> {
  const queued = (await listQueuedForms()).find((one) => one.form === form && one.owner === owner && one.refusal !== null);
  return queued?.refusal ? { queued, refusal: queued.refusal } : undefined;
}

export async function writeQueuedForm(form: QueuedForm): Promise<Kept> {
  return await writeStored(kind, prefix + form.id, form);
}

export async function removeQueuedForm(id: string): Promise<void> {
  await removeStored(kind, prefix + id);
}

/** The key prefix of notes about sent forms (sent-forms.ts). */
export const sentPrefix = "sent-form:";

/** Removes a form from the queue and notes that it was sent, in one transaction. */
export async function settleSentForm({ id, owner, queuedAtMs }: QueuedForm): Promise<void> {
  const sent = { id, owner, queuedAtMs, sentAtMs: Date.now() };
  await writeAllStored([
    { kind, key: prefix + id, value: undefined },
    { kind, key: sentPrefix + id, value: sent },
  ]);
}
