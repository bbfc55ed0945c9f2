import i18next from "i18next";
import type { ContactRule } from "#domain/contact.ts";
import { contactRuleMessages } from "#domain/contact.ts";
import { limits } from "#domain/rules.ts";

/** The number a rule's text names. */
const limitsOf: Partial<Record<ContactRule, number>> = {
  nameLong: limits.nameMax,
  emailLong: limits.emailMax,
  subjectLong: limits.subjectMax,
  messageLong: limits.messageMax,
};

/** A broken rule of spec §5 in the reader's language. Load the namespace first: `useTranslation("contact")`. */
export function contactRuleText(rule: ContactRule): string {
  return i18next.t(`rules.${rule}`, { ns: "contact", count: limitsOf[rule] ?? 0 });
}

/** The server answers in the specification's words; other words, from a newer server, are shown as they are. */
export function contactFaultText(message: string): string {
  const rule = (Object.keys(contactRuleMessages) as ContactRule[]).find((candidate) => contactRuleMessages[candidate] === message);
  return rule ? contactRuleText(rule) : message;
}
