/**
 * What people write to the team, by the contact form and the feedback dialog: every rule of spec §5, for the server's answer
 * and the client's hint alike. A text is trimmed, measured in code points and refused where it breaks a rule; only then is it
 * sanitised and checked for empty again (decisions.md, "Sanitising"). Nothing is cut.
 */
import { checkEmail, codePoints, limits, ruleMessages } from "./rules.ts";

export const contactCategories = ["bug", "feature", "feedback", "support"] as const;
export type ContactCategory = (typeof contactCategories)[number];

/** What a broken rule says, in the words of spec §5. The client finds its translation by the same names. */
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

/** As typed. A form sends no subject as an empty one. */
export interface ContactInput {
  name: string;
  email: string;
  category: string;
  subject?: string | undefined;
  message: string;
}
export type ContactField = keyof ContactInput;

/** As stored and mailed. */
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

/** Nothing a reader would see: spaces, control characters, direction marks, joiners. */
function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}

/** Angle brackets removed, then trimmed (spec §5). */
function sanitizeText(text: string): string {
  return text.replace(/[<>]/g, "").trim();
}

/** Names and subjects are one line: line breaks and other control characters in them become a space, so no mail header can be broken up. */
function sanitizeLine(text: string): string {
  return sanitizeText(text.replace(/[\p{Cc}\u2028\u2029]+/gu, " "));
}

/** The one form an address is stored and mailed in. */
function tidyEmail(email: string): string {
  return email.trim().normalize("NFC");
}

function checkRequired<Rule extends ContactRule>(text: string, maximum: number, missing: Rule, long: Rule): Rule | undefined {
  if (isBlank(text)) return missing;
  if (codePoints(text.trim()) > maximum) return long;
  return isBlank(sanitizeText(text)) ? missing : undefined;
}

/** The rule each field breaks, or undefined where it is fine. */
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

/** Every field at fault, in the order of the form; empty when the message may be sent. */
export function contactFaults(input: ContactInput): ContactFault[] {
  return fieldsInOrder.flatMap((field) => {
    const rule = checks[field](input[field] ?? "");
    return rule === undefined ? [] : [{ field, rule, message: contactRuleMessages[rule] }];
  });
}

/** What is kept of an input without faults. A subject nothing is left of is none. */
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

/** The feedback dialog asks for no category and no subject: these are its own (spec §7). */
export const feedbackCategory = "feedback" satisfies ContactCategory;
export function feedbackSubject(name: string): string {
  return `General Feedback from ${name.trim()}`;
}
