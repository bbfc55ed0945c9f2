import i18next from "i18next";
import { formatNumber } from "#client/lib/format.ts";
import type errors from "./locales/en/errors.json";

type WithoutPlural<Key> = Key extends `${infer Base}_${"one" | "other"}` ? Base : Key;

/** Every error code of the server, and the two that only the client uses: `network` and `unexpected`. */
export type ProblemCode = WithoutPlural<keyof typeof errors>;

/** The numbers that a problem can contain besides its code. */
interface Figures {
  needed?: number | undefined;
  available?: number | undefined;
  quotedCredits?: number | undefined;
  retryAfterSeconds?: number | undefined;
}

/** If the server names no time, a minute is long enough for each of its limits. */
const waitSeconds = 60;

function creditsText(credits: number): string {
  return i18next.t("credits", { ns: "common", count: credits, formatted: formatNumber(credits, i18next.language) });
}

/**
 * The text of a refusal, with the problem's numbers filled in. A code that this client doesn't know, from a newer server, gets
 * the text of `unexpected`. Load the namespace first: `useTranslation("errors")`.
 */
export function problemText(code: string, { needed = 0, available = 0, quotedCredits = 0, retryAfterSeconds }: Figures = {}): string {
  const count = retryAfterSeconds ?? waitSeconds;
  const key = i18next.exists(code, { ns: "errors", count }) ? (code as ProblemCode) : "unexpected";
  const figures = { needed: creditsText(needed), available: creditsText(available), credits: creditsText(quotedCredits) };
  return i18next.t(key, { ns: "errors", count, ...figures });
}
