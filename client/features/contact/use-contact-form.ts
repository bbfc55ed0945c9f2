import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { contactFaultText, contactRuleText } from "#client/i18n/contact-rule-text.ts";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import type { FormFields } from "#client/offline/form-drafts.ts";
import type { Refusal } from "#client/offline/form-queue.ts";
import { onFormOutcome, sendOrQueue } from "#client/offline/form-sender.ts";
import type { Kept } from "#client/offline/store.ts";
import { useFormDraft } from "#client/offline/use-form-draft.ts";
import type { ContactCategory } from "#domain/contact.ts";
import { contactFaults } from "#domain/contact.ts";

const defaultCategory = "support" satisfies ContactCategory;

export type ContactStatus =
  | { step: "filling" }
  | { step: "sending" }
  | { step: "sent"; email: string }
  /** Waits for a connection. `kept` says whether it is still there after the page is closed. */
  | { step: "queued"; id: string; email: string; kept: Kept };

export type ContactFaultTexts = Partial<Record<keyof FormFields, string>>;

interface Trouble {
  /** The error shown above the form. */
  refusal: string | undefined;
  faults: ContactFaultTexts;
}

const noTrouble: Trouble = { refusal: undefined, faults: {} };

function troubleOf({ code, fields }: Refusal, problem?: ApiProblem): Trouble {
  const faults = Object.fromEntries(fields.map(({ field, message }) => [field.replace(/^body[./]/, ""), contactFaultText(message)]));
  return { refusal: problemText(code, problem), faults };
}

/** The state of the contact form: its fields, their errors, and its progress (spec §4). */
export function useContactForm(owner: string | null | undefined, email: string | undefined) {
  const { i18n } = useTranslation(["contact", "errors"]);
  const draft = useFormDraft(owner, "contact", email);
  const [status, setStatus] = useState<ContactStatus>({ step: "filling" });
  const [trouble, setTrouble] = useState<Trouble>(noTrouble);
  const fields = { ...draft.fields, category: draft.fields.category || defaultCategory };

  useEffect(() => {
    if (status.step !== "queued") return;
    return onFormOutcome(({ id, outcome }) => {
      if (id !== status.id) return;
      setStatus(outcome === "sent" ? { step: "sent", email: status.email } : { step: "filling" });
    });
  }, [status]);

  // A queued form that the server refused is put back into the form, with the reasons at its fields.
  const { change, refusal } = draft;
  useEffect(() => {
    if (refusal) setTrouble(troubleOf(refusal));
  }, [refusal]);

  function edit(part: Partial<FormFields>): void {
    change(part);
    const [name] = Object.keys(part) as (keyof FormFields)[];
    if (name && trouble.faults[name]) setTrouble({ ...trouble, faults: { ...trouble.faults, [name]: undefined } });
  }

  /** Resolves to the first invalid field, which then gets the focus. */
  async function submit(website: string): Promise<keyof FormFields | undefined> {
    if (status.step === "sending") return undefined;
    const found = contactFaults(fields);
    setTrouble({ refusal: undefined, faults: Object.fromEntries(found.map(({ field, rule }) => [field, contactRuleText(rule)])) });
    if (found.length > 0) return found[0]?.field;
    setStatus({ step: "sending" });
    const id = draft.keyForSending();
    try {
      const result = await sendOrQueue({ id, form: "contact", owner: owner ?? null, fields, website, language: i18n.language });
      setStatus(result.sent ? { step: "sent", email: fields.email } : { step: "queued", id, email: fields.email, kept: result.kept });
      draft.clear({ name: fields.name, email: fields.email });
    } catch (error) {
      setStatus({ step: "filling" });
      if (!(error instanceof ApiProblem)) setTrouble({ refusal: problemText("unexpected"), faults: {} });
      else {
        const next = troubleOf(error, error);
        setTrouble(next);
        return Object.keys(next.faults)[0] as keyof FormFields | undefined;
      }
    }
    return undefined;
  }

  return { fields, ready: draft.ready, kept: draft.kept, status, trouble, edit, submit, again: () => setStatus({ step: "filling" }) };
}
