/**
 * The rules for the contact form and the feedback dialog (spec §5), used by the server and by the client's hints. A text is
 * trimmed and its length is checked in code points; then angle brackets are removed, and a text that is empty without them is
 * refused. A text that is too long is refused, never shortened.
 */
import { checkEmail, codePoints, isBlank, limits, ruleMessages } from "./rules.ts";

export const contactCategories = ["bug", "feature", "feedback", "support"] as const;
export type ContactCategory = (typeof contactCategories)[number];

/** The message for each broken rule, as spec §5 words it. The client's translations have the same keys. */
export const contactRuleMessages = {
  nameMissing: "Name is required",
  nameLong: `Name must be less than ${limits.nameMax} characters`,
  emailInvalid: ruleMessages.emailInvalid,
  emailLong: ruleMessages.emailLong,
  categoryUnknown: `Category must be one of ${contactCategories.join(", ")}`,
  subjectLong: `Subject must be less than ${limits.subjectMax} characters`,
  messageMissing: "Message is required",
  messageLong: `Message must be less than ${limits.messageMax} characters`,
} as const;
export type ContactRule = keyof typeof contactRuleMessages;

/** What the person typed. A form without a subject sends an empty string. */
export interface ContactInput {
  name: string;
  email: string;
  category: string;
  subject?: string | undefined;
  message: string;
}
export type ContactField = keyof ContactInput;

/** What we store and mail. */
export interface ContactText {
  name: string;
  email: string;
  category: ContactCategory;
  subject: string | null;
  message: string;
}

export interface ContactFault {
  field: ContactField;
  rule: ContactRule;
  message: string;
}

export function isContactCategory(value: string): value is ContactCategory {
  return (contactCategories as readonly string[]).includes(value);
}

/** Removes angle brackets, then trims (spec §5). */
function sanitizeText(text: string): string {
  return text.replace(/[<>]/g, "").trim();
}

/** For names and subjects: replaces line breaks and other control characters by a space, so that they can't add a mail header. */
function sanitizeLine(text: string): string {
  return sanitizeText(text.replace(/[\p{Cc}\u2028\u2029]+/gu, " "));
}

/** The form in which an address is stored and used for mail. */
function tidyEmail(email: string): string {
  return email.trim().normalize("NFC");
}

function checkRequired<Rule extends ContactRule>(text: string, maximum: number, missing: Rule, long: Rule): Rule | undefined {
  if (isBlank(text)) return missing;
  if (codePoints(text.trim()) > maximum) return long;
  return isBlank(sanitizeText(text)) ? missing : undefined;
}

/** Each returns the rule that the field breaks, or undefined. */
const checks: Readonly<Record<ContactField, (value: string) => ContactRule | undefined>> = {
  name: (value) => checkRequired(value, limits.nameMax, "nameMissing", "nameLong"),
  email: (value) => {
    const message = checkEmail(tidyEmail(value));
    if (message === undefined) return undefined;
    return message === ruleMessages.emailLong ? "emailLong" : "emailInvalid";
  },
  category: (value) => (isContactCategory(value) ? undefined : "categoryUnknown"),
  subject: (value) => (codePoints(value.trim()) > limits.subjectMax ? "subjectLong" : undefined),
  message: (value) => checkRequired(value, limits.messageMax, "messageMissing", "messageLong"),
};

const fieldsInOrder = ["name", "email", "category", "subject", "message"] as const satisfies readonly ContactField[];

/** The fields that break a rule, in the order of the form; empty if the message may be sent. */
export function contactFaults(input: ContactInput): ContactFault[] {
  return fieldsInOrder.flatMap((field) => {
    const rule = checks[field](input[field] ?? "");
    return rule === undefined ? [] : [{ field, rule, message: contactRuleMessages[rule] }];
  });
}

/** What is stored of a valid input. A subject that is blank after sanitising becomes null. */
export function sanitizeContact(input: ContactInput): ContactText {
  const { category } = input;
  if (!isContactCategory(category)) throw new Error("sanitising comes after validation");
  const subject = sanitizeLine(input.subject ?? "");
  return {
    name: sanitizeLine(input.name),
    email: tidyEmail(input.email),
    category,
    subject: isBlank(subject) ? null : subject,
    message: sanitizeText(input.message),
  };
}

/** The feedback dialog does not ask for category and subject; it sends these (spec §7). */
export const feedbackCategory = "feedback" satisfies ContactCategory;
export function feedbackSubject(name: string): string {
  return `General Feedback from ${name.trim()}`;
}
