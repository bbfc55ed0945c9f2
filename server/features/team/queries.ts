import type { Role } from "#domain/team.ts";
import type { Executor } from "../../db/transaction.ts";
import { hasSecondFactor } from "./second-factor.ts";

export async function selectHasSecond(executor: Executor, userId: string): Promise<boolean> {
  const row = await executor.selectFrom("users").select(hasSecondFactor.as("has_second")).where("id", "=", userId).executeTakeFirst();
  return row?.has_second ?? false;
}

export async function isPerson(executor: Executor, userId: string): Promise<boolean> {
  return (await executor.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst()) !== undefined;
}

/** Somebody who has deleted their account, or was banned, has no role. */
export async function selectRole(executor: Executor, userId: string): Promise<Role> {
  const row = await executor
    .selectFrom("users")
    .select("role")
    .where("id", "=", userId)
    .where("delete_at", "is", null)
    .where("banned_at", "is", null)
    .executeTakeFirst();
  return row?.role ?? "user";
}
