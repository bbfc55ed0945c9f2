/**
 * Validation rules (spec §5) as plain functions that server and client share. Lengths are code points. Every field except the
 * password is trimmed first. "Must be less than N" accepts N itself. A rule returns the spec's message, or undefined if the
 * value is valid.
 */
export const limits = {
  emailMax: 255,
  passwordMin: 8,
  passwordMax: 128,
  nameMax: 100,
  passkeyNameMax: 60,
  passkeysMax: 20,
  subjectMax: 200,
  messageMax: 5_000,
  promptMax: 10_000,
} as const;

/** The message for each broken rule, as spec §5 words it. The client's translations have the same keys. */
export const ruleMessages = {
  emailLong: `Email must be less than ${limits.emailMax} characters`,
  emailInvalid: "Invalid email address",
  passwordShort: `Password must be at least ${limits.passwordMin} characters`,
  passwordLong: `Password must be less than ${limits.passwordMax} characters`,
  passwordMix: "Password must contain at least one letter and one number",
  passwordCommon: "This password is too common. Choose another one",
  passwordIsAddress: "The password is your email address or part of it. Choose another one",
  promptEmpty: "Prompt cannot be empty",
  promptLong: `Prompt must be less than ${limits.promptMax.toLocaleString("en")} characters`,
  modelMissing: "Model must be selected",
} as const;

export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** `local@domain.tld`: the grammar of HTML's e-mail input, but the domain must contain a dot. */
const emailPattern =
  /^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+@[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?)+$/u;

export function checkEmail(value: string): string | undefined {
  const email = value.trim();
  if (codePoints(email) > limits.emailMax) return ruleMessages.emailLong;
  return emailPattern.test(email) ? undefined : ruleMessages.emailInvalid;
}

/** A password that is the address, or what stands before its @, is the first that anybody tries. */
function isOfAddress(password: string, email: string): boolean {
  const typed = password.trim().toLowerCase();
  const address = email.trim().toLowerCase();
  return typed === address || typed === address.slice(0, address.lastIndexOf("@"));
}

/** The rules for a new password that the form can check. The server knows the common ones as well (features/auth/password-rules.ts). */
export function checkPassword(value: string, email: string): string | undefined {
  const length = codePoints(value);
  if (length < limits.passwordMin) return ruleMessages.passwordShort;
  if (length > limits.passwordMax) return ruleMessages.passwordLong;
  if (!/\p{L}/u.test(value) || !/\p{Nd}/u.test(value)) return ruleMessages.passwordMix;
  return isOfAddress(value, email) ? ruleMessages.passwordIsAddress : undefined;
}

/** Whether a text has no visible character, only spaces, control characters, direction marks and joiners. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}

/** The name of an account, on one line; null if it has no visible character. */
export function readPersonName(value: string): string | null {
  return isBlank(value) ? null : value.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

export function checkPrompt(value: string): string | undefined {
  const prompt = value.trim();
  if (prompt === "") return ruleMessages.promptEmpty;
  return codePoints(prompt) > limits.promptMax ? ruleMessages.promptLong : undefined;
}

/** The address of a link that writes a mail. */
export function mailtoAddress(email: string): string {
  return `mailto:${email.split("@").map(encodeURIComponent).join("@")}`;
}

/** The domain as mail uses it (ASCII), since one domain can be written in several ways (`ｅxample.com`, `bücher.example`). */
function asciiDomain(domain: string): string {
  const address = `http://${domain}`;
  return URL.canParse(address) ? new URL(address).hostname : domain;
}

/** The same key for all addresses of one mailbox, so that a mailbox gets one trial: removes plus-aliases, and dots for Gmail only. */
export function mailboxKey(email: string): string {
  const [local = "", spelled = ""] = email.trim().toLowerCase().split("@");
  const domain = asciiDomain(spelled);
  const bare = local.split("+")[0] ?? local;
  const gmail = domain === "gmail.com" || domain === "googlemail.com";
  return gmail ? `${bare.replaceAll(".", "")}@gmail.com` : `${bare}@${domain}`;
}

/** The largest uploads and the accepted audio formats (spec §5), as the chat and the support answers state them. */
export const uploadLimits = { fileMegabytes: 10, audioMegabytes: 25, audioFormats: ["MP3", "WAV", "M4A"] } as const;
