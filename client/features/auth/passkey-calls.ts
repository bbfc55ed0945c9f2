/** Signing in with a passkey. Comes with the library and the texts, after the form is there (passkey-way.tsx). */
import i18next from "i18next";
import { passkeyText } from "#client/i18n/passkey-text.ts";
import { api } from "#client/lib/api.ts";
import { passkeySupport } from "#client/lib/passkeys.ts";
import { offerPasskey, offersPasskeys, showPasskey } from "#client/lib/webauthn.ts";
import type { Assertion } from "#contract/passkeys.ts";
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

/** Resolves once the page is in front: nobody chooses a passkey in a hidden one. */
function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      signal.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

/**
 * Offers passkeys among the suggestions of the email field until `signal` aborts. Whoever did not ask for it hears nothing of its failures:
 * only what becomes of a chosen passkey is told.
 */
export async function offerPasskeys(signal: AbortSignal, onRefused: OnRefused): Promise<void> {
  if (passkeySupport() !== "yes" || !(await offersPasskeys())) return;
  while (!signal.aborted) {
    await untilVisible(signal);
    if (signal.aborted) return;
    const options = await api("POST /api/auth/passkey/options", { body: {}, signal }).catch(() => undefined);
    if (!options || signal.aborted) return;
    const chosen = await offerPasskey(options, signal);
    if (chosen === undefined) return;
    if (chosen === "renew") continue;
    await loadTexts();
    await present(chosen).catch(onRefused);
  }
}
