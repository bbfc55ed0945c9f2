/** Signing in with a passkey. Comes with the library and the texts, after the form is there (passkey-way.tsx). */
import i18next from "i18next";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { api } from "#client/lib/api.ts";
import { showPasskey } from "#client/lib/webauthn.ts";
import type { Assertion } from "#contract/auth/passkeys.ts";
import { take } from "./auth-calls.ts";

/** `words` replace the usual text of the error. */
export type OnRefused = (error: unknown, words?: string) => void;

const loadTexts = () => i18next.loadNamespaces(["account", "refusals"]);

async function present(assertion: Assertion): Promise<void> {
  take(await api("POST /api/auth/passkey", { body: { assertion } }), "SIGNED_IN");
}

/** Has the person choose a passkey. What goes wrong is told to `onRefused`. */
export async function signInByPasskey(onRefused: OnRefused): Promise<void> {
  try {
    const [options] = await Promise.all([api("POST /api/auth/passkey/options", { body: {} }), loadTexts()]);
    await present(await showPasskey(options));
  } catch (error) {
    onRefused(error, passkeyText(error, i18next.t("passkeys.notUsed", { ns: "account" })));
  }
}

/** Signs in with a passkey that was offered. What goes wrong is told to `onRefused`. */
export async function signInByOffered(assertion: Assertion, onRefused: OnRefused): Promise<void> {
  await loadTexts();
  await present(assertion).catch(onRefused);
}
