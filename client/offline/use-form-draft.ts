import { useCallback, useEffect, useRef, useState } from "react";
import type { FormDraft, FormFields, FormName } from "./form-drafts.ts";
import { readFormDraft, removeFormDraft, writeFormDraft } from "./form-drafts.ts";
import type { Refusal } from "./form-queue.ts";
import { findRefusedForm, removeQueuedForm } from "./form-queue.ts";
import { onFormOutcome } from "./form-sender.ts";
import type { Kept } from "./store.ts";

const emptyFields: FormFields = { name: "", email: "", category: "", subject: "", message: "" };

/** Takes each field from the first candidate in which it is not empty. */
function firstFilled(...candidates: Partial<FormFields>[]): FormFields {
  const pick = (name: keyof FormFields) => candidates.map((candidate) => candidate[name]).find((value) => value) ?? "";
  return { name: pick("name"), email: pick("email"), category: pick("category"), subject: pick("subject"), message: pick("message") };
}

function areSame(one: FormFields, other: FormFields | undefined): boolean {
  return Object.entries(one).every(([name, value]) => other?.[name as keyof FormFields] === value);
}

interface Held extends FormDraft {
  /** The draft's owner; undefined until it is known. */
  owner: string | null | undefined;
  /** Why the server refused these fields after they were queued. */
  refusal: Refusal | null;
}

/** Loads the form's draft, or else a refused form, which goes back to its writer. Text in `typed` has priority over both. */
async function load(owner: string | null, form: FormName, typed: Partial<FormFields>, knownEmail: string): Promise<Held> {
  const found = await readFormDraft(owner, form);
  const refused = found?.fields.message || typed.message ? undefined : await findRefusedForm(form, owner);
  const fields = firstFilled(typed, refused?.queued.fields ?? {}, found?.fields ?? {}, { email: knownEmail });
  if (refused) {
    // Write the draft before removing the form from the queue, so that the text is never lost.
    await writeFormDraft(owner, form, { fields, unsettledKey: null });
    await removeQueuedForm(refused.queued.id);
  }
  const unsettledKey = areSame(fields, found?.fields) ? (found?.unsettledKey ?? null) : null;
  return { owner, fields, unsettledKey, refusal: refused?.refusal ?? null };
}

export interface FormDraftHandle {
  fields: FormFields;
  /** True once the draft has been read from the device. */
  ready: boolean;
  /** Why the server refused these fields after they were queued; null until then. */
  refusal: Refusal | null;
  /** The result of the last write. Unless it is "kept", the draft is lost when the page is closed. */
  kept: Kept;
  /** Changes the fields on the screen at once and on the device right after. */
  change: (part: Partial<FormFields>) => void;
  /** The Idempotency-Key for these fields; it stays the same until they change. */
  keyForSending: () => string;
  /** Clears everything but `remaining`, on the device too. */
  clear: (remaining: Partial<FormFields>) => void;
}

/**
 * Keeps what a person types into a form through a reload and a failure. `owner` is undefined until it is known who the person
 * is. `knownEmail` fills an empty email field.
 */
export function useFormDraft(owner: string | null | undefined, form: FormName, knownEmail: string | undefined): FormDraftHandle {
  const [held, setHeld] = useState<Held>({ owner: undefined, fields: emptyFields, unsettledKey: null, refusal: null });
  const [kept, setKept] = useState<Kept>("kept");
  const latest = useRef(held);
  /** Results of earlier loads are ignored. */
  const round = useRef(0);

  const read = useCallback(() => {
    if (owner === undefined) return;
    round.current += 1;
    const asked = round.current;
    // The person may have begun to type before `owner` was known. Text typed by another person must not be taken over.
    const isOwn = () => latest.current.owner === undefined || latest.current.owner === owner;
    void load(owner, form, isOwn() ? latest.current.fields : {}, knownEmail ?? "").then((loaded) => {
      if (asked !== round.current) return;
      // Text typed during loading has priority over the loaded text.
      const fields = isOwn() ? firstFilled(latest.current.fields, loaded.fields) : loaded.fields;
      latest.current = { ...loaded, fields, unsettledKey: areSame(fields, loaded.fields) ? loaded.unsettledKey : null };
      setHeld(latest.current);
    });
  }, [owner, form, knownEmail]);

  useEffect(() => {
    read();
    const unlisten = onFormOutcome((told) => {
      if (told.form === form && told.outcome === "refused") read();
    });
    return () => {
      unlisten();
      round.current += 1;
    };
  }, [read, form]);

  const hold = useCallback((part: Partial<Held>) => {
    latest.current = { ...latest.current, ...part };
    setHeld(latest.current);
  }, []);

  const store = useCallback(() => {
    const { owner: known, fields, unsettledKey } = latest.current;
    if (known !== undefined) void writeFormDraft(known, form, { fields, unsettledKey }).then(setKept);
  }, [form]);

  const change = useCallback(
    (part: Partial<FormFields>) => {
      hold({ fields: { ...latest.current.fields, ...part }, unsettledKey: null });
      store();
    },
    [hold, store],
  );

  function keyForSending(): string {
    const key = latest.current.unsettledKey ?? crypto.randomUUID();
    hold({ unsettledKey: key });
    store();
    return key;
  }

  function clear(remaining: Partial<FormFields>): void {
    hold({ fields: { ...emptyFields, ...remaining }, unsettledKey: null, refusal: null });
    setKept("kept");
    const { owner: known } = latest.current;
    if (known !== undefined) void removeFormDraft(known, form).then(read);
  }

  return { fields: held.fields, ready: held.owner !== undefined, refusal: held.refusal, kept, change, keyForSending, clear };
}
