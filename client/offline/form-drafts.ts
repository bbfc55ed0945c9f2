import type { Kept, Kind } from "./store.ts";
import { isRecord, readStored, removeStored, writeStored } from "./store.ts";

/** The fields of a form to the team, as typed. */
export interface FormFields {
  name: string;
  email: string;
  category: string;
  subject: string;
  message: string;
}

export type FormName = "contact" | "feedback";

export interface FormDraft {
  fields: FormFields;
  /** The Idempotency-Key of a send whose result is unknown; valid only for exactly these fields. */
  unsettledKey: string | null;
}

export function readFields(stored: unknown): FormFields | undefined {
  if (!isRecord(stored)) return undefined;
  const { name, email, category, subject, message } = stored;
  if (typeof name !== "string" || typeof email !== "string" || typeof category !== "string") return undefined;
  if (typeof subject !== "string" || typeof message !== "string") return undefined;
  return { name, email, category, subject, message };
}

const kind: Kind<FormDraft> = {
  version: 1,
  stamped: true,
  read: (stored) => {
    const fields = isRecord(stored) ? readFields(stored.fields) : undefined;
    if (!isRecord(stored) || !fields) return undefined;
    return { fields, unsettledKey: typeof stored.unsettledKey === "string" ? stored.unsettledKey : null };
  },
};

/**
 * `owner` is a user id, or null for a signed-out visitor. It is part of the key, so that nobody on a shared device sees
 * another's draft.
 */
function keyOf(owner: string | null, form: FormName): string {
  return `draft:${owner ?? "visitor"}:${form}`;
}

export async function readFormDraft(owner: string | null, form: FormName): Promise<FormDraft | undefined> {
  return await readStored(kind, keyOf(owner, form));
}

export async function writeFormDraft(owner: string | null, form: FormName, draft: FormDraft): Promise<Kept> {
  return await writeStored(kind, keyOf(owner, form), draft);
}

export async function removeFormDraft(owner: string | null, form: FormName): Promise<void> {
  await removeStored(kind, keyOf(owner, form));
}
