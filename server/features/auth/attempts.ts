/**
 * Guessing is slowed per account and per address it comes from, and mails per mailbox. Wall time. The answer is the same for
 * known and unknown accounts: what is counted is the address that was typed.
 */
import { sql } from "kysely";
import { hourMs, minuteMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Executor } from "../../db/transaction.ts";
import { clientNetwork } from "../../http/client-network.ts";

interface Limit {
  /** Attempts within the window before the first wait. */
  free: number;
  windowMs: number;
  firstWaitMs: number;
  /** Waits double from the first one up to this. */
  longestWaitMs: number;
}

const limits = {
  email: { free: 5, windowMs: hourMs, firstWaitMs: 15_000, longestWaitMs: 15 * minuteMs },
  // Generous: a whole office may share one address.
  address: { free: 50, windowMs: hourMs, firstWaitMs: 15_000, longestWaitMs: 15 * minuteMs },
  mail: { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  "contact-address": { free: 20, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: hourMs },
  "contact-mail": { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
} as const satisfies Record<string, Limit>;

/** `email:…`, `address:…`, `mail:…`, and what is written to the team: `contact-address:…`, `contact-mail:…`. */
export type AttemptKey = `${keyof typeof limits}:${string}`;

function limitOf(key: AttemptKey): Limit {
  return limits[key.slice(0, key.indexOf(":")) as keyof typeof limits];
}

export function addressKey(ip: string): `address:${string}` {
  return `address:${clientNetwork(ip)}`;
}

/**
 * Counts one attempt, in one statement, so that parallel guesses can't slip past the count. Returns null when it may go on,
 * or else how many seconds to wait; a refused attempt is not counted again.
 */
export async function takeAttempt(executor: Executor, key: AttemptKey, now: Date): Promise<number | null> {
  const { free, windowMs, firstWaitMs, longestWaitMs } = limitOf(key);
  const windowStart = new Date(now.getTime() - windowMs);
  const result = await sql<{ blocked_before: Date | null }>`
    insert into auth_attempts as attempts (key, failures, window_started_at) values (${key}, 1, ${now})
    on conflict (key) do update set
      (failures, window_started_at, blocked_until) = (
        select
          next.failures,
          case when expired.yes then ${now} else attempts.window_started_at end,
          case
            when attempts.blocked_until > ${now} then attempts.blocked_until
            when next.failures >= ${free}::integer then ${now}::timestamptz
              + interval '1 millisecond' * least(${longestWaitMs}::float8, ${firstWaitMs}::float8 * 2 ^ least(next.failures - ${free}::integer, 30))
          end
        from (select attempts.window_started_at <= ${windowStart} and coalesce(attempts.blocked_until <= ${now}, true) as yes) expired,
          lateral (select case when attempts.blocked_until > ${now} then attempts.failures
            when expired.yes then 1 else attempts.failures + 1 end as failures) next
      )
    returning old.blocked_until as blocked_before`.execute(executor);
  const blockedUntil = result.rows[0]?.blocked_before;
  if (!blockedUntil || blockedUntil <= now) return null;
  return Math.max(1, Math.ceil((blockedUntil.getTime() - now.getTime()) / 1_000));
}

export async function forgetAttempts(executor: Executor, key: AttemptKey): Promise<void> {
  await executor.deleteFrom("auth_attempts").where("key", "=", key).execute();
}

/**
 * Drops what no limit looks at any more: anybody may type any address, and each leaves a row. Those being counted right now
 * stay for the next time.
 */
export async function forgetOldAttempts(executor: Executor, now: Date): Promise<void> {
  const longestWindowMs = Math.max(...Object.values(limits).map(({ windowMs }) => windowMs));
  await sql`delete from auth_attempts where key in (
    select key from auth_attempts where window_started_at <= ${new Date(now.getTime() - longestWindowMs)} and coalesce(blocked_until <= ${now}, true)
      for update skip locked)`.execute(executor);
}

/** Seconds until attempts under this key may go on; null: now. */
export async function secondsBlocked(executor: Executor, key: AttemptKey, now: Date): Promise<number | null> {
  const row = await executor.selectFrom("auth_attempts").select("blocked_until").where("key", "=", key).executeTakeFirst();
  if (!row?.blocked_until || row.blocked_until <= now) return null;
  return Math.max(1, Math.ceil((row.blocked_until.getTime() - now.getTime()) / 1_000));
}

export function tooManyAttempts(retryAfterSeconds: number): DomainError {
  return new DomainError("too_many_attempts", "Too many attempts. Wait a moment and try again", { retryAfterSeconds });
}
