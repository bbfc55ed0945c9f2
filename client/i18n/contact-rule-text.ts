import i18next from "i18next";
import type { ContactRule } from "#domain/contact.ts";
import { contactRuleMessages } from "#domain/contact.ts";
import { limits } from "#domain/rules.ts";

/** The limit that the text of a rule mentions. */
const limitsOf: Partial<Record<ContactRule, number>> = {
  nameLong: limits.nameMax,
  emailLong: limits.emailMax,
  subjectLong: limits.subjectMax,
  messageLong: limits.messageMax,
};

/** The text for a broken rule of spec §5 in the reader's language. Load the namespace first: `useTranslation("contact")`. */
export function contactRuleText(rule: ContactRule): string {
  return i18next.t(`rules.${rule}`, { ns: "contact", count: limitsOf[rule] ?? 0 });
}

/** The server sends the specification's English sentences. A sentence we don't know, from a newer server, is shown as it is. */
export function contactFaultText(message: string): string {
  const rule = (Object.keys(contactRuleMessages) as ContactRule[]).find((candidate) => contactRuleMessages[candidate] === message);
  return rule ? contactRuleText(rule) : message;
}
