import type auth from "#client/i18n/locales/en/auth.json";

type RuleKey = `rules.${keyof typeof auth.rules}`;

/** The rules answer in the specification's words; this is where those words find their translation. */
const ruleKeys: Readonly<Record<string, RuleKey>> = {
  "Email must be less than 255 characters": "rules.emailLong",
  "Invalid email address": "rules.emailInvalid",
  "Password must be at least 8 characters": "rules.passwordShort",
  "Password must be less than 128 characters": "rules.passwordLong",
  "Password must contain at least one letter and one number": "rules.passwordMix",
  "This password is too common. Choose another one": "rules.passwordCommon",
};

export function ruleKey(message: string): RuleKey | undefined {
  return ruleKeys[message];
}
