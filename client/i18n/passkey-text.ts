import i18next from "i18next";
import { PasskeyProblem } from "#client/lib/passkeys.ts";
import { problemText } from "./problem-text.ts";

/**
 * What to say when the browser showed or made no passkey; undefined for another error. Load the namespaces
 * `account` and `refusals`.
 */
export function passkeyText(error: unknown, cancelled: string): string | undefined {
  if (!(error instanceof PasskeyProblem)) return undefined;
  if (error.fault === "late") return problemText("passkey_expired");
  if (error.fault === "known") return problemText("passkey_exists");
  return error.fault === "unable" ? i18next.t("passkeys.unable", { ns: "account" }) : cancelled;
}
