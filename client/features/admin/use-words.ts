import { useTranslation } from "react-i18next";

/** What the types of Stripe's events begin with, the longer ones first. */
const beginnings = [
  ["charge.dispute.", "dispute"],
  ["charge.refund.", "refund"],
  ["refund.", "refund"],
  ["charge.", "charge"],
  ["checkout.", "checkout"],
  ["credit_note.", "creditNote"],
  ["customer.subscription.", "subscription"],
  ["customer.", "customer"],
  ["invoice.", "invoice"],
  ["subscription_schedule.", "schedule"],
] as const;

interface Option {
  value: string;
  label: string;
}

/**
 * Words for the names that the code uses: acts of the audit log, mails, jobs, and what Stripe's events are about. A server that is newer
 * than this page may send names that the page does not know; they are shown as they are.
 */
export function useWords() {
  const { t, i18n } = useTranslation("words");
  const wordOf = (key: string, code: string) => (i18n.exists(key, { ns: "words" }) ? t(key as "jobs.send-mail") : code);
  const sorted = (options: readonly Option[]) => options.toSorted((one, other) => one.label.localeCompare(other.label, i18n.language));
  const act = (code: string) => {
    const [thing, done] = code.split(".");
    return wordOf(`acts.${thing}.${done}`, code);
  };
  const optionsOf = (words: Readonly<Record<string, string>>) => sorted(Object.entries(words).map(([value, label]) => ({ value, label })));
  return {
    act,
    mail: (template: string) => wordOf(`mails.${template}`, template),
    job: (name: string) => wordOf(`jobs.${name}`, name),
    event: (type: string) => t(`events.${beginnings.find(([beginning]) => type.startsWith(beginning))?.[1] ?? "other"}`),
    /** For filters, by their words. */
    acts: () =>
      sorted(
        Object.entries(t("acts", { returnObjects: true })).flatMap(([thing, dones]) =>
          Object.entries(dones).map(([done, label]) => ({ value: `${thing}.${done}`, label })),
        ),
      ),
    mails: () => optionsOf(t("mails", { returnObjects: true })),
    jobs: () => optionsOf(t("jobs", { returnObjects: true })),
  };
}
