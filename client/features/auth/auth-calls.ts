import { api } from "#client/lib/api.ts";
import { adoptSession } from "#client/lib/session-store.ts";
import type { MailedLink } from "#contract/auth.ts";

/** Throws ApiProblem (`invalid_credentials`, `email_not_confirmed`, `too_many_attempts`…), NetworkProblem. */
export async function signIn(email: string, password: string): Promise<void> {
  adoptSession(await api("POST /api/auth/sign-in", { body: { email: email.trim(), password } }), "SIGNED_IN");
}

/** Answers alike for known and unknown addresses; the mail says the rest, in `language`. */
export async function signUp(email: string, password: string, language: string): Promise<void> {
  await api("POST /api/auth/sign-up", { body: { email: email.trim(), password, language } });
}

export async function resendConfirmation(email: string): Promise<void> {
  await api("POST /api/auth/resend-confirmation", { body: { email: email.trim() } });
}

/** Whose link it is, and what opening it here takes. Throws ApiProblem (`link_invalid`), NetworkProblem. */
export function lookAtLink(token: string): Promise<MailedLink> {
  return api("POST /api/auth/link", { body: { token } });
}

const confirmations = new Map<string, Promise<void>>();

/**
 * Confirms the address with a mailed token, and with the password where this is not the browser that signed up, and signs
 * in. A token is spent once, however often the screen asks.
 */
export function confirmAddress(token: string, password?: string): Promise<void> {
  const known = confirmations.get(token);
  if (known) return known;
  const body = password === undefined ? { token } : { token, password };
  const confirmation = api("POST /api/auth/confirm", { body }).then((session) => adoptSession(session, "SIGNED_IN"));
  confirmations.set(token, confirmation);
  // What failed spent nothing: the next try must ask again.
  confirmation.catch(() => confirmations.delete(token));
  return confirmation;
}

/** Deletes the sign-up the link belongs to: it was not the address's owner who signed up. */
export async function disownSignUp(token: string): Promise<void> {
  await api("POST /api/auth/disown", { body: { token } });
}
