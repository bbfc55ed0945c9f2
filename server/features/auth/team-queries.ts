import type { Trx } from "../../db/transaction.ts";

/** Returns whether this changed anything; undefined if nobody has this id. */
export async function setBannedAt(trx: Trx, userId: string, bannedAt: Date | null): Promise<boolean | undefined> {
  const before = await trx.selectFrom("users").select("banned_at").where("id", "=", userId).forNoKeyUpdate().executeTakeFirst();
  if (!before || (before.banned_at === null) === (bannedAt === null)) return before && false;
  await trx.updateTable("users").set({ banned_at: bannedAt }).where("id", "=", userId).execute();
  return true;
}

/** Deletes the views of the panel's lists that the person saved. Without a role they can't open the panel any more. */
export async function forgetViews(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom("saved_views").where("user_id", "=", userId).execute();
}
