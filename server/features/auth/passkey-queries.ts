import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { PasskeyChallenges, Passkeys } from "../../db/types-accounts.ts";

export type PasskeyRow = Selectable<Passkeys>;

/** Stores the challenge and deletes an earlier one of the same session. */
export async function insertChallenge(executor: Executor, challenge: Insertable<PasskeyChallenges>): Promise<void> {
  const { challenge: bytes, expires_at, used_at } = challenge;
  await executor
    .insertInto("passkey_challenges")
    .values(challenge)
    .onConflict((conflict) =>
      conflict
        .columns(["session_id", "purpose"])
        .where("session_id", "is not", null)
        .doUpdateSet({ challenge: bytes, expires_at, used_at }),
    )
    .execute();
}

/** Uses the challenge up. Returns false if it was for something else, was used before or is too old. */
export async function spendChallenge(
  executor: Executor,
  { challenge, purpose, session_id }: Pick<PasskeyChallenges, "challenge" | "purpose" | "session_id">,
  now: Date,
): Promise<boolean> {
  const row = await executor
    .updateTable("passkey_challenges")
    .set({ used_at: now })
    .where("challenge", "=", challenge)
    .where("purpose", "=", purpose)
    .where("session_id", "is not distinct from", session_id)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .returning("purpose")
    .executeTakeFirst();
  return row !== undefined;
}

export async function selectPasskeys(executor: Executor, userId: string): Promise<PasskeyRow[]> {
  return executor.selectFrom("passkeys").selectAll().where("user_id", "=", userId).orderBy("id").execute();
}

/** In the transaction of a sign-in by passkey this is the passkey that was just shown. */
export async function findPasskeyUsedLast(executor: Executor, userId: string): Promise<PasskeyRow | undefined> {
  return executor
    .selectFrom("passkeys")
    .selectAll()
    .where("user_id", "=", userId)
    .where("last_used_at", "is not", null)
    .orderBy("last_used_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function findPasskey(executor: Executor, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  return executor.selectFrom("passkeys").selectAll().where("credential_id", "=", credentialId).executeTakeFirst();
}

/** Returns undefined if the passkey exists already. */
export async function insertPasskey(trx: Trx, passkey: Insertable<Passkeys>): Promise<PasskeyRow | undefined> {
  return trx
    .insertInto("passkeys")
    .values(passkey)
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Records a use and returns "used". Returns "counter_went_back" if the passkey counts but its counter is not higher than before (WebAuthn
 * §6.1.1), and "gone" if it was removed meanwhile.
 */
export async function notePasskeyUse(
  trx: Trx,
  { id, counter, backedUp }: { id: string; counter: number; backedUp: boolean },
  now: Date,
): Promise<"used" | "counter_went_back" | "gone"> {
  const locked = await trx.selectFrom("passkeys").select("counter").where("id", "=", id).forUpdate().executeTakeFirst();
  if (!locked) return "gone";
  const counts = counter > 0 || locked.counter > 0;
  if (counts && counter <= locked.counter) return "counter_went_back";
  await trx.updateTable("passkeys").set({ counter, backed_up: backedUp, last_used_at: now }).where("id", "=", id).execute();
  return "used";
}

/** Undefined if the person has no such passkey. */
export async function renamePasskey(executor: Executor, userId: string, id: string, name: string): Promise<PasskeyRow | undefined> {
  return executor
    .updateTable("passkeys")
    .set({ name })
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/** False if the person has no such passkey. */
export async function removePasskey(trx: Trx, userId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ removed: boolean }>`select passkey_remove(${userId}, ${id}) as removed`.execute(trx);
  return rows[0]?.removed === true;
}
