/** The ways in which a person can sign in. A mailed link is not one of them, because it only leads to a new password. */

import type { AuditDetails } from "#domain/audit.ts";
import { DomainError } from "#domain/errors.ts";
import type { AddedWay } from "../../contract/auth/disown.ts";
import type { WaysIn } from "../../contract/auth/security.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { findTotp, hasRecoveryCodeSince, removeFactors } from "./factor-queries.ts";
import { deleteGoogle, findGoogle } from "./google-queries.ts";
import { lockPerson } from "./link-queries.ts";
import { findPasskeyUsedLast, removePasskey, selectPasskeys } from "./passkey-queries.ts";
import type { Person } from "./queries.ts";
import { findPerson } from "./queries.ts";

export async function readWaysIn(executor: Executor, userId: string): Promise<WaysIn> {
  const person = await findPerson(executor, userId);
  const google = await findGoogle(executor, userId);
  return {
    password: person !== undefined && person.password_hash !== null,
    google: google ? { email: google.email ?? "", linkedAt: google.linked_at.toISOString() } : null,
    passkeys: (await selectPasskeys(executor, userId)).length,
  };
}

/** The ways to sign in and the second factors that were added from `since` on, in business time; the oldest first. */
export async function waysSince(executor: Executor, userId: string, since: Date): Promise<AddedWay[]> {
  const [totp, google] = [await findTotp(executor, userId), await findGoogle(executor, userId)];
  const found: { kind: AddedWay["kind"]; at: Date }[] = [
    ...(totp ? [{ kind: "totp" as const, at: totp.created_at }] : []),
    ...(google ? [{ kind: "google" as const, at: google.linked_at }] : []),
    ...(await selectPasskeys(executor, userId)).map(({ created_at: at }) => ({ kind: "passkey" as const, at })),
  ];
  const added = found.filter(({ at }) => at >= since).toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return added.map(({ kind, at }) => ({ kind, addedAt: at.toISOString() }));
}

/** Removes those ways, and recovery codes made since. Returns how many ways. The caller has locked the person. */
export async function removeWaysSince(trx: Trx, userId: string, since: Date): Promise<number> {
  const passkeys = (await selectPasskeys(trx, userId)).filter((passkey) => passkey.created_at >= since);
  for (const { id } of passkeys) await removePasskey(trx, userId, id);
  const [totp, google] = [await findTotp(trx, userId), await findGoogle(trx, userId)];
  const isTotpNew = totp !== undefined && totp.created_at >= since;
  if (isTotpNew) await removeFactors(trx, userId, ["totp", "recovery_code"]);
  else if (await hasRecoveryCodeSince(trx, userId, since)) await removeFactors(trx, userId, ["recovery_code"]);
  const isGoogleNew = google !== undefined && google.linked_at >= since;
  if (isGoogleNew) await deleteGoogle(trx, userId);
  return passkeys.length + Number(isTotpNew) + Number(isGoogleNew);
}

/**
 * When the newest way that was shown in a sign-in was added. Null if the sign-in showed only ways that the account began with, or the
 * password, which is not added but replaced.
 */
export async function findWayAddedAt(
  executor: Executor,
  { id, created_at: since }: Pick<Person, "id" | "created_at">,
  { factor, second }: AuditDetails["sign_in.completed"],
): Promise<Date | null> {
  const shown = [
    factor === "passkey" ? (await findPasskeyUsedLast(executor, id))?.created_at : undefined,
    factor === "google" ? (await findGoogle(executor, id))?.linked_at : undefined,
    second === undefined ? undefined : (await findTotp(executor, id))?.created_at,
  ];
  const added = shown.filter((at) => at !== undefined && at > since).map((at) => Number(at));
  return added.length === 0 ? null : new Date(Math.max(...added));
}

/** How many ways there are. A person may have several of one kind. */
function countWays({ password, google, passkeys }: WaysIn): number {
  return Number(password) + Number(google !== null) + passkeys;
}

/**
 * Call it before you remove one of the person's ways to sign in, in the same transaction. It locks the person, so that two removals at once
 * can't remove the last two ways. Throws `last_way_in`.
 */
export async function refuseLastWay(trx: Trx, userId: string): Promise<void> {
  await lockPerson(trx, userId);
  if (countWays(await readWaysIn(trx, userId)) < 2)
    throw new DomainError("last_way_in", "This is the only way in which you can sign in. Add another one first");
}
