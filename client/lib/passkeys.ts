/**
 * Passkeys of this browser. What speaks to it is a chunk of its own (webauthn.ts), so that pages on which nobody has used a passkey
 * yet don't pay for it.
 */

/** Whether this browser makes passkeys at this address: they need https or this machine, and a name. boot.js asks the same. */
export function passkeySupport(): "yes" | "no" | "address is a number" {
  if (!("PublicKeyCredential" in window)) return "no";
  return /[a-z]$/.test(location.hostname) ? "yes" : "address is a number";
}

/**
 * Why no passkey was shown or made: the person cancelled, they took too long, the device has one for this account already, or it can't keep
 * one.
 */
export type PasskeyFault = "cancelled" | "late" | "known" | "unable";

export class PasskeyProblem extends Error {
  override readonly name = "PasskeyProblem";
  readonly fault: PasskeyFault;

  constructor(fault: PasskeyFault) {
    super(fault);
    this.fault = fault;
  }
}
