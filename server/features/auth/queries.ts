import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import type { Executor } from "../../db/transaction.ts";
import type { AuthSessions, EmailLinks, UserRow, Users } from "../../db/types-accounts.ts";

export type SessionRow = Selectable<AuthSessions>;

export async function findUserByEmail(executor: Executor, email: string): Promise<UserRow | undefined> {
  return executor.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
}

export async function findUser(executor: Executor, userId: string): Promise<UserRow | undefined> {
  return executor.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
}

export async function lockUser(executor: Executor, userId: string): Promise<UserRow | undefined> {
  return executor.selectFrom("users").selectAll().where("id", "=", userId).forUpdate().executeTakeFirst();
}

/** The person of this address, made when there is none, locked until the transaction ends. */
export async function lockOrInsertUser(executor: Executor, user: Insertable<Users>): Promise<UserRow> {
  await executor
    .insertInto("users")
    .values(user)
    .onConflict((conflict) => conflict.column("email").doNothing())
    .execute();
  return executor.selectFrom("users").selectAll().where("email", "=", user.email).forUpdate().executeTakeFirstOrThrow();
}

export async function updateUser(
  executor: Executor,
  userId: string,
  changes: Partial<Pick<UserRow, "language" | "email_verified_at" | "password_hash" | "role" | "last_sign_in_at">>,
): Promise<UserRow> {
  return executor.updateTable("users").set(changes).where("id", "=", userId).returningAll().executeTakeFirstOrThrow();
}

/** A person together with the newest of these sign-ups with their address, whatever became of it. */
export async function findCredentials(executor: Executor, email: string, signUps: readonly string[], now: Date) {
  return executor
    .selectFrom("users")
    .leftJoinLateral(
      (from) =>
        from
          .selectFrom("email_links")
          .select("email_links.password_hash as sign_up_password_hash")
          .whereRef("email_links.user_id", "=", "users.id")
          .where("purpose", "=", "confirm")
          .where("sign_up_id", "=", sql<string>`any(${[...signUps]}::uuid[])`)
          .where("expires_at", ">", now)
          .orderBy("email_links.created_at", "desc")
          .limit(1)
          .as("begun"),
      (join) => join.onTrue(),
    )
    .selectAll("users")
    .select("sign_up_password_hash")
    .where("users.email", "=", email)
    .executeTakeFirst();
}

/** The sign-ups of a person that wait for their confirmation, the latest mailed first. */
export async function selectPendingSignUps(executor: Executor, userId: string, now: Date) {
  return executor
    .selectFrom("email_links")
    .select(["sign_up_id", "password_hash"])
    .where("user_id", "=", userId)
    .where("purpose", "=", "confirm")
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("created_at", "desc")
    .execute();
}

/** What waits of a sign-up, its password with it. */
export async function deletePendingSignUp(executor: Executor, signUp: { userId: string; signUpId: string }): Promise<void> {
  await executor
    .deleteFrom("email_links")
    .where("user_id", "=", signUp.userId)
    .where("sign_up_id", "=", signUp.signUpId)
    .where("used_at", "is", null)
    .execute();
}

export async function insertLink(executor: Executor, link: Insertable<EmailLinks>): Promise<void> {
  await executor.insertInto("email_links").values(link).execute();
}

export async function findLink(executor: Executor, tokenHash: Buffer): Promise<Selectable<EmailLinks> | undefined> {
  return executor.selectFrom("email_links").selectAll().where("token_hash", "=", tokenHash).executeTakeFirst();
}

/** Spends every confirmation link of a person; true when the one named was still unused. */
export async function spendLinks(executor: Executor, userId: string, linkId: string, now: Date): Promise<boolean> {
  const used = await executor
    .updateTable("email_links")
    .set({ used_at: now })
    .where("user_id", "=", userId)
    .where("purpose", "=", "confirm")
    .where("used_at", "is", null)
    .returning("id")
    .execute();
  return used.some((link) => link.id === linkId);
}

export async function insertSession(executor: Executor, session: Insertable<AuthSessions>): Promise<void> {
  await executor.insertInto("auth_sessions").values(session).execute();
}

export async function lockSession(executor: Executor, sessionId: string): Promise<SessionRow | undefined> {
  return executor.selectFrom("auth_sessions").selectAll().where("id", "=", sessionId).forUpdate().executeTakeFirst();
}

export async function rotateSession(
  executor: Executor,
  session: SessionRow,
  next: { counter: number; tokenHash: Buffer; now: Date; expiresAt: Date },
): Promise<void> {
  await executor
    .updateTable("auth_sessions")
    .set({
      counter: next.counter,
      token_hash: next.tokenHash,
      previous_token_hash: session.token_hash,
      rotated_at: next.now,
      expires_at: next.expiresAt,
    })
    .where("id", "=", session.id)
    .execute();
}

/** The person whose sign-in this ended; undefined when it had ended before. */
export async function revokeSession(executor: Executor, sessionId: string, now: Date): Promise<string | undefined> {
  const row = await executor
    .updateTable("auth_sessions")
    .set({ revoked_at: now })
    .where("id", "=", sessionId)
    .where("revoked_at", "is", null)
    .returning("user_id")
    .executeTakeFirst();
  return row?.user_id;
}

/** The people behind those of these sign-ins that still hold: not ended, not expired, the person not banned. */
export async function selectLiveSessions(executor: Executor, sessionIds: readonly string[], now: Date) {
  const live = executor
    .selectFrom("auth_sessions")
    .innerJoin("users", "users.id", "auth_sessions.user_id")
    .select(["auth_sessions.id as session_id", "users.id as user_id", "users.email", "users.role"])
    .where("auth_sessions.id", "=", sql<string>`any(${[...sessionIds]}::uuid[])`)
    .where("auth_sessions.revoked_at", "is", null)
    .where("auth_sessions.expires_at", ">", now)
    .where("users.banned_at", "is", null);
  // Every call that needs a signed-in person begins with it.
  const result = await sql<Awaited<ReturnType<typeof live.execute>>[number]>`/* prepared */ ${live}`.execute(executor);
  return result.rows;
}
