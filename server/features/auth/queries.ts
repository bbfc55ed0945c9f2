import type { Insertable, Selectable } from "kysely";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { Role } from "#domain/team.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { AuthSessions, SignUps, UserRow } from "../../db/types-accounts.ts";
import type { Entitling } from "../../db/types-billing.ts";

export type SessionRow = Selectable<AuthSessions>;
export type SignUpRow = Selectable<SignUps>;

/** A person with their address and, where they have one, the hash of their password. */
export interface Person extends UserRow {
  email: string;
  password_hash: string | null;
}

function selectPeople(executor: Executor) {
  return executor
    .selectFrom("users")
    .innerJoin("identities", (join) => join.onRef("identities.user_id", "=", "users.id").on("identities.kind", "=", "email"))
    .leftJoin("credentials", (join) => join.onRef("credentials.user_id", "=", "users.id").on("credentials.kind", "=", "password"))
    .selectAll("users")
    .select(["identities.subject as email", sql<string | null>`credentials.data ->> 'hash'`.as("password_hash")]);
}

export async function findPersonByEmail(executor: Executor, email: string): Promise<Person | undefined> {
  return selectPeople(executor).where("identities.subject", "=", email).executeTakeFirst();
}

export async function findPerson(executor: Executor, userId: string): Promise<Person | undefined> {
  return selectPeople(executor).where("users.id", "=", userId).executeTakeFirst();
}

/** Makes the person of an address that was just confirmed, at `now` of business time. */
export async function insertPerson(trx: Trx, { email, language }: { email: string; language: string }, now: Date): Promise<Person> {
  const user = await trx
    .insertInto("users")
    .values({ language, avatar_url: null, banned_at: null, created_at: now, last_sign_in_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx
    .insertInto("identities")
    .values({ user_id: user.id, kind: "email", subject: email, verified_at: now, created_at: now })
    .execute();
  return { ...user, email, password_hash: null };
}

export async function insertPassword(trx: Trx, userId: string, hash: string, now: Date): Promise<void> {
  await trx
    .insertInto("credentials")
    .values({ user_id: userId, kind: "password", name: null, data: JSON.stringify({ hash }), created_at: now, last_used_at: null })
    .execute();
}

/** Locks the address: until the end of the transaction no other one gives it to a person or takes it from one. */
export async function lockAddress(trx: Trx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`address ${email}`}, 0))`.execute(trx);
}

/** Replaces the person's address. The caller has checked that the new one is free. */
export async function setEmail(trx: Trx, userId: string, email: string, now: Date): Promise<void> {
  await trx
    .updateTable("identities")
    .set({ subject: email, verified_at: now })
    .where("user_id", "=", userId)
    .where("kind", "=", "email")
    .executeTakeFirstOrThrow();
}

/** Sets the person's password, whether or not they have one. */
export async function setPassword(trx: Trx, userId: string, hash: string, now: Date): Promise<void> {
  const data = JSON.stringify({ hash });
  await trx
    .insertInto("credentials")
    .values({ user_id: userId, kind: "password", name: null, data, created_at: now, last_used_at: null })
    .onConflict((conflict) => conflict.column("user_id").where("kind", "=", "password").doUpdateSet({ data, created_at: now }))
    .execute();
}

/** Stores the same password with newer parameters. Does nothing if the person has changed the password meanwhile. */
export async function replaceHash(trx: Trx, userId: string, hashes: { from: string; to: string }): Promise<boolean> {
  const result = await trx
    .updateTable("credentials")
    .set({ data: JSON.stringify({ hash: hashes.to }) })
    .where("user_id", "=", userId)
    .where("kind", "=", "password")
    .where(sql`data ->> 'hash'`, "=", hashes.from)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function markPasswordUsed(trx: Trx, userId: string, now: Date): Promise<void> {
  await trx.updateTable("credentials").set({ last_used_at: now }).where("user_id", "=", userId).where("kind", "=", "password").execute();
}

export async function updateUser(
  executor: Executor,
  userId: string,
  changes: Partial<Pick<UserRow, "role" | "last_sign_in_at">>,
): Promise<UserRow> {
  return executor.updateTable("users").set(changes).where("id", "=", userId).returningAll().executeTakeFirstOrThrow();
}

export async function insertSignUp(executor: Executor, signUp: Insertable<SignUps>): Promise<void> {
  await executor.insertInto("sign_ups").values(signUp).execute();
}

/** Whether any sign-up that began after `since` has this password, even one that was confirmed or disowned. */
export async function hasSignUp(executor: Executor, passwordHashes: readonly string[], since: Date): Promise<boolean> {
  const row = await executor
    .selectFrom("sign_ups")
    .select("id")
    .where("password_hash", "in", passwordHashes)
    .where("created_at", ">", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The sign-ups of an address that wait for their confirmation and began after `since`, the newest first. */
export async function selectWaitingSignUps(executor: Executor, email: string, since: Date): Promise<SignUpRow[]> {
  return executor
    .selectFrom("sign_ups")
    .selectAll()
    .where("email", "=", email)
    .where("created_at", ">", since)
    .orderBy("id", "desc")
    .execute();
}

/** Locks all waiting sign-ups of an address, always in the same order, so that confirmations of the address run one after the other. */
export async function lockWaitingSignUps(trx: Trx, email: string): Promise<SignUpRow[]> {
  return trx.selectFrom("sign_ups").selectAll().where("email", "=", email).orderBy("id").forUpdate().execute();
}

/** Ends these sign-ups, so that they can't become accounts any more. */
export async function endSignUps(trx: Trx, signUpIds: readonly string[]): Promise<void> {
  await trx.updateTable("sign_ups").set({ email: null }).where("id", "in", signUpIds).execute();
}

/** Removes the password from the sign-up, because the person's credentials have it now. */
export async function forgetSignUpPassword(trx: Trx, signUpId: string): Promise<void> {
  await trx.updateTable("sign_ups").set({ password_hash: null }).where("id", "=", signUpId).execute();
}

export async function insertSession(executor: Executor, session: Insertable<AuthSessions>): Promise<void> {
  await executor.insertInto("auth_sessions").values(session).execute();
}

export async function lockSession(executor: Executor, sessionId: string): Promise<SessionRow | undefined> {
  return executor.selectFrom("auth_sessions").selectAll().where("id", "=", sessionId).forUpdate().executeTakeFirst();
}

export async function findSession(executor: Executor, sessionId: string): Promise<SessionRow | undefined> {
  return executor.selectFrom("auth_sessions").selectAll().where("id", "=", sessionId).executeTakeFirst();
}

export async function rotateSession(
  executor: Executor,
  session: SessionRow,
  next: { counter: number; tokenHash: Buffer; now: Date; expiresAt: Date; timeZone: string | null },
): Promise<void> {
  await executor
    .updateTable("auth_sessions")
    .set({
      counter: next.counter,
      token_hash: next.tokenHash,
      previous_token_hash: session.token_hash,
      // The client presents this token, so it has received it.
      received_counter: session.counter,
      rotated_at: next.now,
      expires_at: next.expiresAt,
      time_zone: next.timeZone ?? session.time_zone,
    })
    .where("id", "=", session.id)
    .execute();
}

/** Ends the sign-in and returns its person; undefined if it had ended before. */
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

/**
 * For an act that a call of this session began. Call it after the person was locked, because whoever takes the account back ends its sessions
 * under that lock. Throws `session_expired`.
 */
export async function refuseEndedSession(trx: Trx, sessionId: string): Promise<void> {
  const row = await trx
    .selectFrom("auth_sessions")
    .select("id")
    .where("id", "=", sessionId)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  if (!row) throw new DomainError("session_expired", "Your session has ended. Sign in again");
}

/** The person's valid sessions, the one used last first. */
export async function selectSessionsOf(executor: Executor, userId: string, now: Date, limit: number): Promise<SessionRow[]> {
  return executor
    .selectFrom("auth_sessions")
    .selectAll()
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .orderBy("rotated_at", "desc")
    .limit(limit)
    .execute();
}

/** Ends one of a person's sessions, all but one, or all. Returns how many valid ones ended. */
export async function revokeSessionsOf(trx: Trx, userId: string, which: { only?: string; except?: string }, now: Date): Promise<number> {
  const { only, except } = which;
  const ended = await trx
    .updateTable("auth_sessions")
    .set({ revoked_at: now })
    .where("user_id", "=", userId)
    .$if(only !== undefined, (query) => query.where("id", "=", only ?? ""))
    .$if(except !== undefined, (query) => query.where("id", "!=", except ?? ""))
    .where("revoked_at", "is", null)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return Number(ended.numUpdatedRows);
}

/** Ends some of all the sign-ins there are. Returns how many; none are left when that is 0. */
export async function revokeSessions(trx: Trx, limit: number, now: Date): Promise<number> {
  const some = trx.selectFrom("auth_sessions").select("id").where("revoked_at", "is", null).where("expires_at", ">", now).limit(limit);
  const ended = await trx.updateTable("auth_sessions").set({ revoked_at: now }).where("id", "in", some).executeTakeFirst();
  return Number(ended.numUpdatedRows);
}

/** Records that a factor was shown. Returns false if the sign-in has ended meanwhile. */
export async function markSessionProved(executor: Executor, sessionId: string, now: Date): Promise<boolean> {
  const row = await executor
    .updateTable("auth_sessions")
    .set({ proved_at: now })
    .where("id", "=", sessionId)
    .where("revoked_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

interface LiveSession extends Entitling {
  session_id: string;
  received_counter: number | null;
  proved_at: Date;
  user_id: string;
  role: Role;
}

/**
 * Returns the people of those sign-ins that are valid: not ended, not expired, the person not banned, the account not deleted. Every call of
 * a signed-in person runs this statement, so it is prepared, and it reads what the start of an answer needs to know of the person.
 */
export async function selectLiveSessions(executor: Executor, sessionIds: readonly string[], now: Date): Promise<LiveSession[]> {
  const result = await sql<LiveSession>`/* prepared */ select s.id as session_id, s.received_counter, s.proved_at, u.id as user_id, u.role,
      b.plan_key, b.status, b.grace_until, t.ends_at as trial_ends_at, l.ask_above_credits
    from auth_sessions s join users u on u.id = s.user_id
    left join user_subscriptions b on b.user_id = u.id left join trials t on t.user_id = u.id left join spending_limits l on l.user_id = u.id
    where s.id = any (${[...sessionIds]}::uuid[]) and s.revoked_at is null and s.expires_at > ${now}
      and u.banned_at is null and u.delete_at is null`.execute(executor);
  return result.rows;
}

export interface Received {
  sessionId: string;
  /** The counter of the refresh token that was issued with the access token in use. */
  counter: number;
}

/**
 * Records that clients have received these tokens, so that their predecessors are no longer accepted. Skips a session whose row is locked,
 * for example by its refresh, because other people's calls wait for this statement too. The session's next call records it.
 */
export async function setReceived(executor: Executor, received: readonly Received[]): Promise<void> {
  const ids = received.map(({ sessionId }) => sessionId);
  const counters = received.map(({ counter }) => counter);
  await sql`update auth_sessions s set received_counter = free.counter
    from (
      select s.id, seen.counter
      from unnest(${ids}::uuid[], ${counters}::integer[]) as seen (id, counter)
      join auth_sessions s on s.id = seen.id and s.received_counter < seen.counter
      for update of s skip locked
    ) free
    where s.id = free.id`.execute(executor);
}
