import { useCallback, useEffect, useRef, useState } from "react";
import type { FormDraft, FormFields, FormName } from "./form-drafts.ts";
import { readFormDraft, removeFormDraft, writeFormDraft } from "./form-drafts.ts";
import type { Kept } from "./store.ts";

const emptyFields: FormFields = { name: "", email: "", category: "", subject: "", message: "" };

/** Each field from the first that has something in it. */
function firstFilled(...candidates: Partial<FormFields>[]): FormFields {
  const pick = (name: keyof FormFields) => candidates.map((candidate) => candidate[name]).find((value) => value) ?? "";
  return { name: pick("name"), email: pick("email"), category: pick("category"), subject: pick("subject"), message: pick("message") };
}

function areSame(one: FormFields, other: FormFields | undefined): boolean {
  return Object.entries(one).every(([name, value]) => other?.[name as keyof FormFields] === value);
}

interface Held extends FormDraft {
  /** Whose draft it is; undefined until that is known. */
  owner: string | null | undefined;
}

export interface FormDraftHandle {
  fields: FormFields;
  /** What the device kept has been read. */
  ready: boolean;
  /** What became of the last write: anything but "kept" lasts only as long as the page. */
  kept: Kept;
  /** On the screen at once, on the device right after. */
  change: (part: Partial<FormFields>) => void;
  /** The key to send these very fields under, the same until they change. */
  keyForSending: () => string;
  /** Everything but `remaining` is gone, from the device too. */
  clear: (remaining: Partial<FormFields>) => void;
}

/**
 * What somebody has typed into a form: it survives a reload and a failure. `owner` is undefined until it is known who is
 * there; their `knownEmail` fills a field left empty.
 */
export function useFormDraft(owner: string | null | undefined, form: FormName, knownEmail: string | undefined): FormDraftHandle {
  const [held, setHeld] = useState<Held>({ owner: undefined, fields: emptyFields, unsettledKey: null });
  const [kept, setKept] = useState<Kept>("kept");
  const latest = useRef(held);

  useEffect(() => {
    if (owner === undefined) return;
    let current = true;
    void readFormDraft(owner, form).then((found) => {
      if (!current) return;
      // Somebody may have begun to type before it was known who is there; another person's text is not theirs.
      const typed = latest.current.owner === undefined ? latest.current.fields : {};
      const fields = firstFilled(typed, found?.fields ?? {}, { email: knownEmail ?? "" });
      latest.current = { owner, fields, unsettledKey: areSame(fields, found?.fields) ? (found?.unsettledKey ?? null) : null };
      setHeld(latest.current);
    });
    return () => {
      current = false;
    };
  }, [owner, form, knownEmail]);

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
    hold({ fields: { ...emptyFields, ...remaining }, unsettledKey: null });
    setKept("kept");
    if (latest.current.owner !== undefined) void removeFormDraft(latest.current.owner, form);
  }

  return { fields: held.fields, ready: held.owner !== undefined, kept, change, keyForSending, clear };
}
