import i18next from "i18next";
import { formatNumber } from "#client/lib/format.ts";
import type errors from "./locales/en/errors.json";
import type refusals from "./locales/en/refusals.json";

type WithoutPlural<Key> = Key extends `${infer Base}_${"one" | "other"}` ? Base : Key;

/**
 * Every error code of the server, and the two that only the client uses: `network` and `unexpected`. `errors` has what any page may have
 * to say, `refusals` what only signed-in people meet.
 */
const namespaces = ["errors", "refusals"] as const;
type ProblemKey = `errors:${WithoutPlural<keyof typeof errors>}` | `refusals:${WithoutPlural<keyof typeof refusals>}`;

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
 * the text of `unexpected`. Load the namespaces first: `useTranslation("errors")`, and `refusals` where these codes can come.
 */
export function problemText(code: string, { needed = 0, available = 0, quotedCredits = 0, retryAfterSeconds }: Figures = {}): string {
  const count = retryAfterSeconds ?? waitSeconds;
  const namespace = namespaces.find((ns) => i18next.exists(code, { ns, count }));
  const key = namespace ? (`${namespace}:${code}` as ProblemKey) : "errors:unexpected";
  return i18next.t(key, { count, needed: creditsText(needed), available: creditsText(available), credits: creditsText(quotedCredits) });
}
