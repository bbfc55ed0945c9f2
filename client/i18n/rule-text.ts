import { useTranslation } from "react-i18next";
import { limits, ruleMessages } from "#domain/rules.ts";

const names = ["emailLong", "emailInvalid", "passwordShort", "passwordLong", "passwordMix", "passwordCommon", "passwordIsAddress"] as const;

/** The limit that the text of a rule mentions. */
const limitsOf: Partial<Record<(typeof names)[number], number>> = {
  emailLong: limits.emailMax,
  passwordShort: limits.passwordMin,
  passwordLong: limits.passwordMax,
};

/** The rules return the specification's English sentences; this returns them in the reader's language, and any other sentence unchanged. */
export function useRuleText(): (message: string | undefined) => string | undefined {
  const { t } = useTranslation("auth");
  return (message) => {
    const name = names.find((candidate) => ruleMessages[candidate] === message);
    return name ? t(`rules.${name}`, { count: limitsOf[name] ?? 0 }) : message;
  };
}
