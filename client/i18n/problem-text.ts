import i18next from "i18next";
import { formatNumber } from "#client/lib/format.ts";
import type errors from "./locales/en/errors.json";

type WithoutPlural<Key> = Key extends `${infer Base}_${"one" | "other"}` ? Base : Key;

/** Every code the server refuses with, and the two that only the client knows: `network` and `unexpected`. */
export type ProblemCode = WithoutPlural<keyof typeof errors>;

/** What a problem carries besides its code. */
interface Figures {
  needed?: number | undefined;
  available?: number | undefined;
  quotedCredits?: number | undefined;
  retryAfterSeconds?: number | undefined;
}

/** Where the server names no time, a minute is enough for each of its limits. */
const waitSeconds = 60;

function creditsText(credits: number): string {
  return i18next.t("credits", { ns: "common", count: credits, formatted: formatNumber(credits, i18next.language) });
}

/**
 * The text of a refusal, with the figures the problem carries. Codes this client does not know, from a newer server,
 * read as unexpected. Load the namespace first: `useTranslation("errors")`.
 */
export function problemText(code: string, { needed = 0, available = 0, quotedCredits = 0, retryAfterSeconds }: Figures = {}): string {
  const count = retryAfterSeconds ?? waitSeconds;
  const key = i18next.exists(code, { ns: "errors", count }) ? (code as ProblemCode) : "unexpected";
  const figures = { needed: creditsText(needed), available: creditsText(available), credits: creditsText(quotedCredits) };
  return i18next.t(key, { ns: "errors", count, ...figures });
}
