/** The browser's dialogs for passkeys. Loaded when somebody needs one of them (passkeys.ts). */
import {
  browserSupportsWebAuthnAutofill,
  bufferToBase64URLString,
  sendSignal,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
} from "@simplewebauthn/browser";
import type { Assertion, Registration, RegistrationOptions, SignInOptions } from "#contract/auth/passkeys.ts";
import { minuteMs } from "#domain/clock.ts";
import type { PasskeyFault } from "./passkeys.ts";
import { PasskeyProblem } from "./passkeys.ts";

/** What can go wrong when a passkey is made, by the name of the browser's error (WebAuthn §5.1.3). */
const faults: Readonly<Record<string, PasskeyFault>> = {
  InvalidStateError: "known",
  ConstraintError: "unable",
  NotSupportedError: "unable",
  UnknownError: "unable",
};

/** Browsers tell nobody whether the person cancelled, has no passkey or took too long, except by the time it took. */
async function problemsNamed<T>(timeoutMs: number, named: typeof faults, ceremony: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await ceremony();
  } catch (error) {
    const isLate = performance.now() - startedAt >= timeoutMs;
    throw new PasskeyProblem((error instanceof Error ? named[error.name] : undefined) ?? (isLate ? "late" : "cancelled"));
  }
}

/** Has the person choose one of their passkeys. Throws PasskeyProblem. */
export function showPasskey(options: SignInOptions): Promise<Assertion> {
  return problemsNamed(options.timeout, {}, () => startAuthentication({ optionsJSON: options }));
}

/** Makes a passkey. `isApart`: on a key or a phone beside this device. Throws PasskeyProblem. */
export async function makePasskey(options: RegistrationOptions): Promise<{ registration: Registration; isApart: boolean }> {
  const made = await problemsNamed(options.timeout, faults, () => startRegistration({ optionsJSON: options }));
  const { id, rawId, type, response } = made;
  const { clientDataJSON, attestationObject, transports = [] } = response;
  const registration = { id, rawId, type, response: { clientDataJSON, attestationObject, transports } };
  return { registration, isApart: made.authenticatorAttachment === "cross-platform" };
}

export const offersPasskeys = browserSupportsWebAuthnAutofill;

/**
 * Offers the passkeys of this site among the suggestions of the field with `autocomplete="… webauthn"`, until the person chooses one or
 * `signal` aborts. Resolves with "renew" shortly before the challenge is too old, and with undefined if there is nothing to offer.
 */
export async function offerPasskey(options: SignInOptions, signal: AbortSignal): Promise<Assertion | "renew" | undefined> {
  let isOver = false;
  const stop = () => WebAuthnAbortService.cancelCeremony();
  const renewal = setTimeout(() => {
    isOver = true;
    stop();
  }, options.timeout - minuteMs);
  signal.addEventListener("abort", stop);
  try {
    return await startAuthentication({ optionsJSON: options, useBrowserAutofill: true });
  } catch {
    return isOver ? "renew" : undefined;
  } finally {
    clearTimeout(renewal);
    signal.removeEventListener("abort", stop);
  }
}

/** Tells the browser which passkeys are still good, so that it offers no others. Not every browser listens. */
export async function tellAccepted(userId: string, credentialIds: string[]): Promise<void> {
  const bytes = Uint8Array.from(userId.replaceAll("-", "").match(/../g) ?? [], (hex) => Number.parseInt(hex, 16));
  const userHandle = bufferToBase64URLString(bytes.buffer);
  const accepted = { rpID: location.hostname, userID: userHandle, allAcceptedCredentialIDs: credentialIds };
  await sendSignal({ signalName: "allAcceptedCredentials", ...accepted }).catch(() => undefined);
}
