import i18next from "i18next";
import type errors from "./locales/en/errors.json";

/** Every code the server refuses with, and the two that only the client knows: `network` and `unexpected`. */
export type ProblemCode = keyof typeof errors;

/**
 * The text of a refusal, with the figures the problem carries (`needed`, `available`, …). Codes this client does not
 * know, from a newer server, read as unexpected. Load the namespace first: `useTranslation("errors")`.
 */
export function problemText(code: string, figures: Readonly<Record<string, unknown>> = {}): string {
  const key = i18next.exists(code, { ns: "errors" }) ? (code as ProblemCode) : "unexpected";
  return i18next.t(key, { ns: "errors", ...figures });
}
