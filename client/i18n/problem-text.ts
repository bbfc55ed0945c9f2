import i18next from "i18next";
import { formatNumber } from "#client/lib/format.ts";
import type errors from "./locales/en/errors.json";
import type refusals from "./locales/en/refusals.json";
import type uploads from "./locales/en/uploads.json";

/**
 * Every error code of the server, and the two that only the client uses: `network` and `unexpected`. `errors` has what any page may have
 * to say, `refusals` what only signed-in people meet, `uploads` what is said of files, recordings and long texts in the chat.
 */
const namespaces = ["errors", "refusals", "uploads"] as const;
type ProblemKey =
  | `errors:${Exclude<keyof typeof errors, "wait">}`
  | `refusals:${keyof typeof refusals}`
  | `uploads:${keyof typeof uploads}`;

/** The numbers that a problem can contain besides its code. */
interface Figures {
  needed?: number | undefined;
  available?: number | undefined;
  quotedCredits?: number | undefined;
  retryAfterSeconds?: number | undefined;
}

/** If the server names no time, a minute is long enough for each of its limits. */
const usualWaitSeconds = 60;

/** Beyond these the seconds don't matter to anybody who waits. */
const shortMinutes = 2;

/** How long to wait, to the second or, when it is long, to the minute. Load `errors` first. */
export function waitText(seconds: number): string {
  const isLong = seconds > shortMinutes * 60;
  return i18next.t(`errors:wait.${isLong ? "minutes" : "seconds"}`, { count: isLong ? Math.ceil(seconds / 60) : seconds });
}

function creditsText(credits: number): string {
  return i18next.t("credits", { ns: "common", count: credits, formatted: formatNumber(credits, i18next.language) });
}

/**
 * The text of a refusal, with the problem's numbers filled in. A code that this client doesn't know, from a newer server, gets
 * the text of `unexpected`. Load the namespaces first: `useTranslation("errors")`, `refusals` and `uploads` where these codes can come.
 */
export function problemText(code: string, { needed = 0, available = 0, quotedCredits = 0, retryAfterSeconds }: Figures = {}): string {
  const namespace = namespaces.find((ns) => i18next.exists(code, { ns }));
  const key = namespace ? (`${namespace}:${code}` as ProblemKey) : "errors:unexpected";
  const time = waitText(retryAfterSeconds ?? usualWaitSeconds);
  return i18next.t(key, { time, needed: creditsText(needed), available: creditsText(available), credits: creditsText(quotedCredits) });
}
