import { api } from "#client/lib/api.ts";
import { refreshSession, refreshUser } from "#client/lib/session-refresh.ts";
import { adoptSession, currentSession } from "#client/lib/session-store.ts";
import type { DisownLink } from "#contract/auth/disown.ts";
import type { EmailChangeLink } from "#contract/auth/email-change.ts";
import type { FactorReset } from "#contract/auth/factor-reset.ts";
import type { MailedLink, SignedIn } from "#contract/auth/sign-in.ts";
import { waitForStep } from "./next-step-store.ts";

/** Keeps the session; or has the page ask what comes first: the code of a second factor, or whether a deleted account is restored. */
export function take(outcome: SignedIn, event: "SIGNED_IN" | "PASSWORD_RECOVERY" | "MFA_CHALLENGE_VERIFIED"): void {
  if (!("access_token" in outcome)) {
    waitForStep(outcome);
    return;
  }
  const replaced = currentSession();
  adoptSession(outcome, event);
  // No tab has the replaced session's tokens any more. If this fails, the person can end it on the account's page, or it expires.
  if (replaced) void api("POST /api/auth/sign-out", { body: { refresh_token: replaced.refresh_token } }).catch(() => undefined);
}

/** Throws ApiProblem (`wrong_code`, `sign_in_expired`, `too_many_attempts`…), NetworkProblem. */
export async function answerFactor(token: string, code: string): Promise<void> {
  const outcome = await api("POST /api/auth/factor", { body: { token, code } });
  waitForStep(undefined);
  take(outcome, "MFA_CHALLENGE_VERIFIED");
}

/** Takes the deletion of the account back and signs in. Throws ApiProblem (`sign_in_expired`), NetworkProblem. */
export async function restoreAccount(token: string): Promise<void> {
  const session = await api("POST /api/auth/restore", { body: { token } });
  waitForStep(undefined);
  take(session, "SIGNED_IN");
}

/** Asks for a link that removes the second factor. Throws ApiProblem (`sign_in_expired`, `too_many_attempts`), NetworkProblem. */
export function askForFactorReset(token: string): Promise<FactorReset> {
  return api("POST /api/auth/factor-reset", { body: { token } });
}

/** With the link of the mail about the request. Throws ApiProblem (`link_invalid`…), NetworkProblem. */
export async function cancelFactorReset(token: string): Promise<void> {
  await api("POST /api/auth/factor-reset/cancel", { body: { token } });
}

/** Removes the second factor and signs in. Throws ApiProblem (`link_invalid`, `sign_in_expired`…), NetworkProblem. */
export async function removeLostFactor(token: string, link: string): Promise<void> {
  const outcome = await api("POST /api/auth/factor-reset/remove", { body: { token, link } });
  waitForStep(undefined);
  take(outcome, "SIGNED_IN");
}

/** Throws ApiProblem (`invalid_credentials`, `email_not_confirmed`, `too_many_attempts`…), NetworkProblem. */
export async function signIn(email: string, password: string): Promise<void> {
  take(await api("POST /api/auth/sign-in", { body: { email: email.trim(), password } }), "SIGNED_IN");
}

/** Returns the page of Google's to open. `returnTo` is the page to come back to after signing in. */
export function beginGoogle(returnTo: string | null): Promise<{ url: string }> {
  return api("POST /api/auth/google", { body: returnTo === null ? {} : { return: returnTo } });
}

let finishing: Promise<string | undefined> | undefined;

async function finish(language: string): Promise<string | undefined> {
  const outcome = await api("POST /api/auth/google/finish", { body: { language } });
  if ("status" in outcome && outcome.status === "own_way_first") return outcome.email;
  take(outcome, "SIGNED_IN");
  return undefined;
}

/**
 * Signs in with the answer that Google gave in this browser. It is good once, so it is sent once, even if the screen calls this several
 * times. Returns the address if it has an account that Google is not linked to. Throws ApiProblem (`google_expired`…), NetworkProblem.
 */
export function finishGoogle(language: string): Promise<string | undefined> {
  finishing ??= finish(language).finally(() => {
    finishing = undefined;
  });
  return finishing;
}

/** Links the Google account that answered in this browser. Throws ApiProblem (`google_taken`…), NetworkProblem. */
export async function linkGoogle(): Promise<void> {
  await api("POST /api/account/google");
}

/**
 * The response is the same for known and unknown addresses, so that nobody can find out who has an account; the mail, in
 * `language`, tells the owner.
 */
export async function signUp(email: string, password: string, language: string): Promise<void> {
  await api("POST /api/auth/sign-up", { body: { email: email.trim(), password, language } });
}

export async function resendConfirmation(email: string): Promise<void> {
  await api("POST /api/auth/resend-confirmation", { body: { email: email.trim() } });
}

/** Mails a link for a new password to the address, if it has an account. The response does not say whether it has one. */
export async function askForRecovery(email: string): Promise<void> {
  await api("POST /api/auth/recover", { body: { email: email.trim() } });
}

/** Reads whose password the link changes. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtRecovery(token: string): Promise<{ email: string }> {
  return api("POST /api/auth/recovery-link", { body: { token } });
}

/**
 * Sets the new password of the link's person, whose address is `email`. Returns whether it signed in here, as it does in the browser
 * that asked for the link. Throws ApiProblem (`link_invalid`, `validation_failed`…), NetworkProblem.
 */
export async function resetPassword(token: string, email: string, password: string): Promise<boolean> {
  const { session } = await api("POST /api/auth/reset-password", { body: { token, password } });
  // Every sign-in of this person has ended, so theirs on this device too.
  const replaced = session !== null && "access_token" in session;
  if (!replaced && currentSession()?.user.email === email) adoptSession(null, "SIGNED_OUT");
  if (session) take(session, "PASSWORD_RECOVERY");
  return session !== null;
}

/** Reads whose link it is and what is needed to use it here. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtLink(token: string): Promise<MailedLink> {
  return api("POST /api/auth/link", { body: { token } });
}

/** Sends a token once, even if the screen asks for it several times. */
function once<T>(sent: Map<string, Promise<T>>, token: string, send: () => Promise<T>): Promise<T> {
  const known = sent.get(token);
  if (known) return known;
  const call = send();
  sent.set(token, call);
  // A failed call did not use up the token, so the next call must send it again.
  call.catch(() => sent.delete(token));
  return call;
}

const confirmations = new Map<string, Promise<void>>();

/**
 * Confirms the address with a mailed token and signs in. In another browser than the one that signed up, the password is needed
 * too.
 */
export function confirmAddress(token: string, password?: string): Promise<void> {
  const body = password === undefined ? { token } : { token, password };
  return once(confirmations, token, () => api("POST /api/auth/confirm", { body }).then((outcome) => take(outcome, "SIGNED_IN")));
}

/** Deletes the sign-up of this link, because somebody other than the address's owner signed up. */
export async function disownSignUp(token: string): Promise<void> {
  await api("POST /api/auth/disown", { body: { token } });
}

/** Reads which address the link gives its account, and what using it here needs. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtEmailChange(token: string): Promise<EmailChangeLink> {
  return api("POST /api/auth/email-change-link", { body: { token } });
}

const emailChanges = new Map<string, Promise<void>>();

/** Makes the link's address the account's. It signs nobody in; whoever is signed in here may be the one whose address it is. */
export function confirmEmailChange(token: string, password?: string): Promise<void> {
  const body = password === undefined ? { token } : { token, password };
  return once(emailChanges, token, async () => {
    await api("POST /api/auth/confirm-email-change", { body });
    // The change is made. If this fails, the next refresh brings it.
    await refreshUser().catch(() => undefined);
  });
}

/** Reads what the link removes. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtDisown(token: string): Promise<DisownLink> {
  return api("POST /api/auth/way-link", { body: { token } });
}

/** Removes what the link is about. Returns the token of a link for a new password. */
export async function disownWay(token: string): Promise<string> {
  const disowned = await api("POST /api/auth/disown-way", { body: { token } });
  // The reason is the same as in undoEmailChange.
  await refreshSession().catch(() => undefined);
  return disowned.token;
}

/** Reads which address the link gives back. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtUndo(token: string): Promise<{ email: string }> {
  return api("POST /api/auth/undo-link", { body: { token } });
}

/** Gives the account its address back. Returns the token of a link for a new password. */
export async function undoEmailChange(token: string): Promise<string> {
  const undone = await api("POST /api/auth/undo-email-change", { body: { token } });
  // All sessions of the account have ended. If the one in this browser was among them, the refresh finds that out.
  await refreshSession().catch(() => undefined);
  return undone.token;
}
