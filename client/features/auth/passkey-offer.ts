/**
 * Passkeys among the suggestions of the email field. The browser must know of the offer before the field has the focus, so the offer may
 * begin while the form sleeps (lib/sleep.ts), and this file is small.
 */
import { api } from "#client/lib/api.ts";
import { passkeySupport } from "#client/lib/passkeys.ts";
import { wakeUp } from "#client/lib/sleep.ts";
import { offerPasskey, offersPasskeys } from "#client/lib/webauthn.ts";
import type { OnRefused } from "./passkey-calls.ts";

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

/** Whether the page has the field. Its visitor may leave it while the form still sleeps. */
const hasField = () => document.querySelector("[autocomplete~=webauthn]") !== null;

async function offerUntil(signal: AbortSignal, onRefused: OnRefused): Promise<void> {
  if (passkeySupport() !== "yes" || !(await offersPasskeys())) return;
  while (!signal.aborted) {
    await untilVisible(signal);
    if (signal.aborted || !hasField()) return;
    const options = await api("POST /api/auth/passkey/options", { body: {}, signal }).catch(() => undefined);
    if (!options || signal.aborted) return;
    const chosen = await offerPasskey(options, signal);
    if (chosen === undefined) return;
    if (chosen === "renew") continue;
    // The form shows how the sign-in ends, so it must be awake.
    const [{ signInByOffered }] = await Promise.all([import("./passkey-calls.ts"), wakeUp()]);
    await signInByOffered(chosen, onRefused);
  }
}

interface EarlyOffer {
  controller: AbortController;
  /** The form's function, which it passes on once it is hydrated. */
  onRefused: PromiseWithResolvers<OnRefused>;
}

let early: EarlyOffer | undefined;

/** Offers passkeys while the form sleeps; the form later takes over with `offerPasskeys`. Returns false: nothing has to wake up for it. */
export function offerEarly(): false {
  const begun: EarlyOffer = { controller: new AbortController(), onRefused: Promise.withResolvers() };
  early = begun;
  const tell: OnRefused = (error, words) => void begun.onRefused.promise.then((onRefused) => onRefused(error, words));
  const end = () => {
    if (early === begun) early = undefined;
  };
  offerUntil(begun.controller.signal, tell).then(end, end);
  return false;
}

/**
 * Offers passkeys until `signal` aborts. The person has not asked for the offer, so its failures are not shown: `onRefused` hears only
 * what goes wrong after a passkey was chosen.
 */
export async function offerPasskeys(signal: AbortSignal, onRefused: OnRefused): Promise<void> {
  const begun = early;
  if (!begun) return await offerUntil(signal, onRefused);
  early = undefined;
  begun.onRefused.resolve(onRefused);
  signal.addEventListener("abort", () => begun.controller.abort());
  if (signal.aborted) begun.controller.abort();
}
