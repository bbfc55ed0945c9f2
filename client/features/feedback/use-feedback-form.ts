import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { contactFaultText, contactRuleText } from "#client/i18n/contact-rule-text.ts";
import { ApiProblem } from "#client/lib/api.ts";
import { showToast } from "#client/lib/interface-store.ts";
import type { FormFields } from "#client/offline/form-drafts.ts";
import { sendOrQueue } from "#client/offline/form-sender.ts";
import { useFormDraft } from "#client/offline/use-form-draft.ts";
import { contactFaults, feedbackCategory, feedbackSubject } from "#domain/contact.ts";
import { endFeedback } from "./feedback-store.ts";

export type FeedbackFault = "name" | "email" | "message";

type Faults = Partial<Record<FeedbackFault, string>>;

function isFeedbackField(field: string): field is FeedbackFault {
  return field === "name" || field === "email" || field === "message";
}

/**
 * The state of the feedback form (spec §5, §8). The first error is shown in a toast and every error at its field; the result is
 * a toast too.
 */
export function useFeedbackForm(owner: string | null | undefined, email: string | undefined) {
  const { t, i18n } = useTranslation(["feedback", "contact"]);
  const { fields, kept, refusal, change, keyForSending, clear } = useFormDraft(owner, "feedback", email);
  const [faults, setFaults] = useState<Faults>({});
  const [sending, setSending] = useState(false);

  // A queued form that the server refused is put back into the form, with the reasons at its fields.
  useEffect(() => {
    if (refusal) setFaults(Object.fromEntries(refusal.fields.map(({ field, message }) => [field, contactFaultText(message)])));
  }, [refusal]);

  /** Shows the errors and returns the first, whose field then gets the focus. */
  function refuse(found: { field: string; text: string }[]): FeedbackFault | undefined {
    const [first] = found;
    if (!first) return undefined;
    setFaults(Object.fromEntries(found.filter(({ field }) => isFeedbackField(field)).map(({ field, text }) => [field, text])));
    showToast({ tone: "danger", title: t("invalid.title"), text: first.text });
    return found.map(({ field }) => field).find(isFeedbackField);
  }

  function fail(error: unknown): FeedbackFault | undefined {
    const named = error instanceof ApiProblem ? error.fields : [];
    if (named.length > 0) return refuse(named.map(({ field, message }) => ({ field, text: contactFaultText(message) })));
    showToast({ tone: "danger", title: t("failed.title"), text: t("failed.text") });
    return undefined;
  }

  async function submit(website: string): Promise<FeedbackFault | undefined> {
    if (sending) return undefined;
    const complete: FormFields = { ...fields, category: feedbackCategory, subject: feedbackSubject(fields.name) };
    // The person did not type the subject: it is made from the name, which is checked already.
    const found = contactFaults({ ...complete, subject: "" });
    setFaults({});
    if (found.length > 0) return refuse(found.map(({ field, rule }) => ({ field, text: contactRuleText(rule) })));
    setSending(true);
    try {
      const form = {
        id: keyForSending(),
        form: "feedback",
        owner: owner ?? null,
        fields: complete,
        website,
        language: i18n.language,
      } as const;
      const result = await sendOrQueue(form);
      clear({});
      endFeedback();
      if (result.sent) showToast({ tone: "good", title: t("sent.title"), text: t("sent.text") });
      else showToast({ title: t("queued.title"), text: result.kept === "kept" ? t("queued.text") : t("queued.unkept") });
      return undefined;
    } catch (error) {
      return fail(error);
    } finally {
      setSending(false);
    }
  }

  function edit(part: Partial<FormFields>): void {
    change(part);
    const [name] = Object.keys(part);
    if (name && isFeedbackField(name) && faults[name]) setFaults({ ...faults, [name]: undefined });
  }

  return { fields, kept, faults, sending, edit, submit };
}
