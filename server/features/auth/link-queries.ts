/** SQL of mailed links: those of sign-ups and those of people. */
import type { Insertable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { EmailLinks } from "../../db/types-accounts.ts";

export async function insertLink(executor: Executor, link: Insertable<EmailLinks>): Promise<void> {
  await executor.insertInto("email_links").values(link).execute();
}

/** A mailed link with the sign-up it belongs to or, once it was opened, the person. */
export async function findConfirmationLink(executor: Executor, tokenHashes: readonly Buffer[]) {
  return executor
    .selectFrom("email_links")
    .leftJoin("sign_ups", "sign_ups.id", "email_links.sign_up_id")
    .leftJoin("users", "users.id", "email_links.user_id")
    .leftJoin("identities", (join) => join.onRef("identities.user_id", "=", "users.id").on("identities.kind", "=", "email"))
    .selectAll("email_links")
    .select(["sign_ups.email as sign_up_email", "sign_ups.password_hash", "identities.subject as person_email", "users.banned_at"])
    .where("token_hash", "in", tokenHashes)
    .where("purpose", "=", "confirm")
    .executeTakeFirst();
}

/** Marks every link of these sign-ups as opened and gives it to the person. Returns true if the named link was among them. */
export async function spendLinks(
  trx: Trx,
  { signUpIds, userId, linkId }: { signUpIds: readonly string[]; userId: string; linkId: string },
  now: Date,
): Promise<boolean> {
  const spent = await trx
    .updateTable("email_links")
    .set({ used_at: now, user_id: userId, sign_up_id: null })
    .where("sign_up_id", "in", signUpIds)
    .returning("id")
    .execute();
  return spent.some((link) => link.id === linkId);
}

export async function deleteLinks(trx: Trx, signUpId: string): Promise<void> {
  await trx.deleteFrom("email_links").where("sign_up_id", "=", signUpId).execute();
}

/** A link mailed to a person. */
export interface PersonLink {
  id: string;
  user_id: string;
  /** The person's address. */
  email: string;
  password_hash: string | null;
  /** The address that the person gets by opening the link, or that got it (EmailLinks); null for links of other purposes. */
  address: string | null;
  /** For a link that removes ways to sign in: it removes those that were added since. */
  ways_since: Date | null;
}

export type PersonPurpose = Exclude<EmailLinks["purpose"], "confirm">;

/** Finds an unused link of this purpose that has not expired, if its person is not banned. */
export async function findPersonLink(
  executor: Executor,
  { tokenHashes, purpose }: { tokenHashes: readonly Buffer[]; purpose: PersonPurpose },
  now: Date,
): Promise<PersonLink | undefined> {
  return executor
    .selectFrom("email_links")
    .innerJoin("users", "users.id", "email_links.user_id")
    .innerJoin("identities", (join) => join.onRef("identities.user_id", "=", "users.id").on("identities.kind", "=", "email"))
    .leftJoin("credentials", (join) => join.onRef("credentials.user_id", "=", "users.id").on("credentials.kind", "=", "password"))
    .select(["email_links.id", "users.id as user_id", "identities.subject as email", "email_links.address", "email_links.ways_since"])
    .select(sql<string | null>`credentials.data ->> 'hash'`.as("password_hash"))
    .where("token_hash", "in", tokenHashes)
    .where("purpose", "=", purpose)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .where("users.banned_at", "is", null)
    .executeTakeFirst();
}

/** Marks the link as used. Of several calls at once only one returns true. */
export async function spendPersonLink(trx: Trx, linkId: string, now: Date): Promise<boolean> {
  const result = await trx
    .updateTable("email_links")
    .set({ used_at: now })
    .where("id", "=", linkId)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Deletes the person's unused links of this purpose, so that at most the next one works. */
export async function deleteUnusedLinks(trx: Trx, userId: string, purpose: PersonPurpose): Promise<void> {
  await trx.deleteFrom("email_links").where("user_id", "=", userId).where("purpose", "=", purpose).where("used_at", "is", null).execute();
}

/**
 * Locks the person: until the end of the transaction no other one mails or uses their links, or deletes or restores the account. Returns
 * when the account will be erased; null if it is not being deleted.
 */
export async function lockPerson(trx: Trx, userId: string): Promise<Date | null> {
  const { rows } = await sql<{ delete_at: Date | null }>`select delete_at from users where id = ${userId} for no key update`.execute(trx);
  return rows[0]?.delete_at ?? null;
}

/** Deletes the person's links of these purposes, used ones too. */
export async function deletePersonLinks(trx: Trx, userId: string, purposes: readonly EmailLinks["purpose"][]): Promise<void> {
  await trx.deleteFrom("email_links").where("user_id", "=", userId).where("purpose", "in", purposes).execute();
}

/** The new address that this person has not confirmed yet. */
export async function findAskedAddress(executor: Executor, userId: string, now: Date) {
  return executor
    .selectFrom("email_links")
    .select(["address", "expires_at"])
    .where("user_id", "=", userId)
    .where("purpose", "=", "change-email")
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
}

/** The newest link that can still give this address back to a person. */
export async function findUndo(executor: Executor, address: string, now: Date) {
  return executor
    .selectFrom("email_links")
    .select(["id", "user_id", "expires_at"])
    .where("address", "=", address)
    .where("purpose", "=", "undo-email")
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The address that the person had before the first change that can still be reversed. Undefined: none, or they have it again. */
export async function findEarlierAddress(executor: Executor, userId: string, address: string, now: Date): Promise<string | undefined> {
  const row = await executor
    .selectFrom("email_links")
    .select("address")
    .where("user_id", "=", userId)
    .where("purpose", "=", "undo-email")
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row?.address === address ? undefined : (row?.address ?? undefined);
}

/** Deletes the links by which other mailboxes than the account's could take it back. */
export async function deleteLinksOfOthers(trx: Trx, userId: string, address: string): Promise<void> {
  await trx
    .deleteFrom("email_links")
    .where("user_id", "=", userId)
    .where("purpose", "in", ["undo-email", "disown-way"])
    .where("address", "!=", address)
    .execute();
}

/** Deletes the person's other links that give this address back, and those made after this one, because a stranger may have them. */
export async function deleteUndoLinks(trx: Trx, userId: string, { id, address }: { id: string; address: string }): Promise<void> {
  await trx
    .deleteFrom("email_links")
    .where("user_id", "=", userId)
    .where("id", "!=", id)
    .where((e) =>
      e.or([
        e("purpose", "=", "undo-email").and(e.or([e("id", ">", id), e("address", "=", address)])),
        e("purpose", "=", "disown-way").and("id", ">", id),
      ]),
    )
    .execute();
}

/**
 * Removes the way to sign in that the used link is about, and what was added after it. For the link that reverses a change of address: what was
 * added since that was requested, or since the first of the mails about new ways that the same address got lately. Returns how many.
 */
export async function removeWaysInSince(trx: Trx, linkId: string): Promise<number> {
  const { rows } = await sql<{ removed: number }>`select undo_ways_in(${linkId}) as removed`.execute(trx);
  return rows[0]?.removed ?? 0;
}
