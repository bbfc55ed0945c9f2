/**
 * Guesses and mails are counted before the work they cause, so that none of a rush slips past, and a right password is given
 * back. Wall time. The answer is the same for known and unknown accounts: what is counted is the address that was typed.
 */
import { sql } from "kysely";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { DomainError } from "#domain/errors.ts";
import type { Executor } from "../../db/transaction.ts";
import { clientSite, siteShare } from "../../http/client-network.ts";
import { RateLimitError } from "../../http/rate-limit-fields.ts";

interface Limit {
  /** Attempts within the window before the first wait. */
  free: number;
  windowMs: number;
  firstWaitMs: number;
  /** Waits double from the first one up to this. */
  longestWaitMs: number;
}

const guesses = { windowMs: hourMs, firstWaitMs: 15_000, longestWaitMs: 15 * minuteMs };

const limits = {
  // Of one account, from one network; a stranger's guesses so lock out nobody but who is near them.
  guess: { free: 5, ...guesses },
  // Of one account from anywhere, by browsers that never signed in to it.
  email: { free: 20, ...guesses },
  // By a browser that has.
  device: { free: 5, ...guesses },
  // Of the password one sign-up was made with.
  "sign-up": { free: 5, ...guesses },
  // Of the password within one sign-in, before a dangerous act.
  "step-up": { free: 5, ...guesses },
  // Of the second factor of one person: from one network, from anywhere, and by a browser that has signed in before.
  factor: { free: 5, ...guesses },
  "factor-account": { free: 20, ...guesses },
  "factor-device": { free: 5, ...guesses },
  // Of passkeys: answers that were refused, and challenges that were asked for, of which each opening of the sign-in page takes one.
  passkey: { free: 50, ...guesses },
  "passkey-challenge": { free: 600, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 5 * minuteMs },
  // Requests to remove a person's second factor: each sends a mail.
  "factor-reset": { free: 3, windowMs: dayMs, firstWaitMs: hourMs, longestWaitMs: dayMs },
  // Generous: a whole office may share one address.
  address: { free: 50, ...guesses },
  // Mails asked for: by one network, to one mailbox by one network and by all, so that a stranger leaves room for its owner, and in all.
  "mail-address": { free: 40, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  mail: { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  mailbox: { free: 15, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  mails: { free: 120, windowMs: minuteMs, firstWaitMs: 15_000, longestWaitMs: 15_000 },
  // Changes of the address that one person asks for, mails sent again included, and passwords tried for one of them elsewhere.
  "email-change": { free: 5, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  "email-change-guess": { free: 5, ...guesses },
  // Of mailed links that were opened: by one network, and of one link.
  "link-address": { free: 60, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  link: { free: 20, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  "contact-address": { free: 20, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: hourMs },
  "contact-mail": { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
} as const satisfies Record<string, Limit>;

/** The kind of limit, and what it counts for. */
export type AttemptKey = `${keyof typeof limits}:${string}`;

/** The kind alone, without what it counts for. */
export function limitName(key: AttemptKey): keyof typeof limits {
  return key.slice(0, key.indexOf(":")) as keyof typeof limits;
}

function limitOf(key: AttemptKey): Limit {
  const limit = limits[limitName(key)];
  return key.endsWith("::/48") ? { ...limit, free: limit.free * siteShare } : limit;
}

type NetworkLimit = "address" | "mail-address" | "link-address" | "contact-address" | "passkey" | "passkey-challenge";

/** Of a network (client-network.ts), and of the site it belongs to. */
export function networkKeys(kind: NetworkLimit, network: string): AttemptKey[] {
  const site = clientSite(network);
  return [`${kind}:${network}`, ...(site === undefined ? [] : [`${kind}:${site}` as const])];
}

interface Taken {
  /** Null when it may go on, or else how many seconds to wait; a refused attempt is not counted again. */
  waitSeconds: number | null;
  /** The next one has to wait. */
  isLast: boolean;
}

/** Counts one attempt, in one statement, so that parallel guesses can't slip past the count. */
async function take(executor: Executor, key: AttemptKey, now: Date): Promise<Taken> {
  const { free, windowMs, firstWaitMs, longestWaitMs } = limitOf(key);
  const windowStart = new Date(now.getTime() - windowMs);
  const result = await sql<{ blocked_before: Date | null; blocked_after: Date | null }>`
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
    returning old.blocked_until as blocked_before, new.blocked_until as blocked_after`.execute(executor);
  const { blocked_before: before = null, blocked_after: after = null } = result.rows[0] ?? {};
  if (!before || before <= now) return { waitSeconds: null, isLast: after !== null && after > now };
  return { waitSeconds: Math.max(1, Math.ceil((before.getTime() - now.getTime()) / 1_000)), isLast: false };
}

/** Counts one attempt. Returns null when it may go on, or else how many seconds to wait. */
export async function takeAttempt(executor: Executor, key: AttemptKey, now: Date): Promise<number | null> {
  return (await take(executor, key, now)).waitSeconds;
}

/**
 * Counts one attempt under each key. Throws `too_many_attempts` with retryAfterSeconds when one of them has to wait, and
 * writes nothing then: being refused costs one look. Returns the keys under which the next attempt has to wait.
 */
export async function countAttempts(executor: Executor, keys: readonly AttemptKey[]): Promise<AttemptKey[]> {
  const longest = await longestWait(executor, keys, new Date());
  if (longest) throw tooManyAttempts(longest.key, longest.seconds);
  const blocked: AttemptKey[] = [];
  for (const key of keys) {
    const taken = await take(executor, key, new Date());
    if (taken.waitSeconds !== null) throw tooManyAttempts(key, taken.waitSeconds);
    if (taken.isLast) blocked.push(key);
  }
  return blocked;
}

/** Takes one counted attempt back under each key: it was no guess. */
export async function giveBackAttempts(executor: Executor, keys: readonly AttemptKey[]): Promise<void> {
  for (const key of keys) {
    const { free } = limitOf(key);
    await sql`update auth_attempts set failures = failures - 1, blocked_until = case when failures > ${free}::integer then blocked_until end
      where key = ${key} and failures > 0`.execute(executor);
  }
}

/**
 * Counts an attempt before `work` is done; what could not be done doesn't count. `work` is given the keys under which the next
 * attempt has to wait. Throws as countAttempts and `work` do.
 */
export async function counted<T>(
  executor: Executor,
  keys: readonly AttemptKey[],
  work: (blocked: readonly AttemptKey[]) => Promise<T>,
): Promise<T> {
  const blocked = await countAttempts(executor, keys);
  try {
    return await work(blocked);
  } catch (error) {
    await giveBackAttempts(executor, keys);
    throw error;
  }
}

export async function forgetAttempts(executor: Executor, key: AttemptKey): Promise<void> {
  await executor.deleteFrom("auth_attempts").where("key", "=", key).execute();
}

/** The key whose attempts have to wait longest, and for how many seconds. Undefined: all may go on now. */
async function longestWait(
  executor: Executor,
  keys: readonly AttemptKey[],
  now: Date,
): Promise<{ key: AttemptKey; seconds: number } | undefined> {
  const row = await executor
    .selectFrom("auth_attempts")
    .select(["key", "blocked_until"])
    .where("key", "in", keys)
    .where("blocked_until", ">", now)
    .orderBy("blocked_until", "desc")
    .limit(1)
    .executeTakeFirst();
  const key = keys.find((candidate) => candidate === row?.key);
  if (!row?.blocked_until || key === undefined) return undefined;
  return { key, seconds: Math.max(1, Math.ceil((row.blocked_until.getTime() - now.getTime()) / 1_000)) };
}

function tooManyAttempts(key: AttemptKey, retryAfterSeconds: number): DomainError {
  const { free, windowMs } = limitOf(key);
  const limit = { name: limitName(key), quota: free, windowSeconds: windowMs / 1_000, remaining: 0, resetSeconds: retryAfterSeconds };
  return new RateLimitError("too_many_attempts", "Too many attempts. Wait a moment and try again", limit);
}
