/**
 * Counts guesses and requested mails before the work for them begins, so that many at once can't pass the limit; a right password is
 * taken back from the count. Uses wall time. We count by the address that was typed, so known and unknown accounts respond alike.
 */
import { sql } from "kysely";
import { dayMs, hourMs, minuteMs } from "#domain/clock.ts";
import type { DomainError } from "#domain/errors.ts";
import type { SettingValues } from "#domain/settings.ts";
import { settings } from "#domain/settings.ts";
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
  // Guesses at one account from one network. So a stranger's guesses lock out only people in the stranger's network.
  guess: { free: 5, ...guesses },
  // Guesses at one account from all networks, by browsers that have never signed in to it.
  email: { free: 20, ...guesses },
  // Guesses at one account by a browser that has signed in to it.
  device: { free: 5, ...guesses },
  // Guesses at the password of one sign-up.
  "sign-up": { free: 5, ...guesses },
  // Guesses at the password by somebody who is signed in and has to prove who they are.
  "step-up": { free: 5, ...guesses },
  // Guesses at one person's second factor: from one network, from all networks, and by a browser that has signed in before.
  factor: { free: 5, ...guesses },
  "factor-account": { free: 20, ...guesses },
  "factor-device": { free: 5, ...guesses },
  // Refused answers of passkeys, and challenges. Opening the sign-in page takes one challenge each time.
  passkey: { free: 50, ...guesses },
  "passkey-challenge": { free: 600, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 5 * minuteMs },
  // Requests to remove a person's second factor: each sends a mail.
  "factor-reset": { free: 3, windowMs: dayMs, firstWaitMs: hourMs, longestWaitMs: dayMs },
  // Guesses from one network at any account. High, because a whole office may share one network address.
  address: { free: 50, ...guesses },
  // Requested mails: by one network; to one mailbox by one network; to one mailbox by all networks, which is more, so that a stranger
  // leaves some to the owner; and altogether.
  "mail-address": { free: 40, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  mail: { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  mailbox: { free: 15, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  mails: { free: settings.mailsPerMinute.default, windowMs: minuteMs, firstWaitMs: 15_000, longestWaitMs: 15_000 },
  // Changes of address that one person asks for, including repeated mails; and guesses at the password when such a link is opened in
  // another browser.
  "email-change": { free: 5, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  "email-change-guess": { free: 5, ...guesses },
  // Opened links: by one network, and tries with one link.
  "link-address": { free: 60, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  link: { free: 20, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  // Security mails of one kind to one mailbox (auth/security-mails.ts).
  "security-mail": { free: 10, windowMs: hourMs, firstWaitMs: 15 * minuteMs, longestWaitMs: 15 * minuteMs },
  "contact-address": { free: 20, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: hourMs },
  // Messages to the team in the name of one mailbox from one network, and of one account. Acknowledgements to one mailbox from all networks,
  // and messages that are mailed at all.
  "contact-mail": { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  "contact-account": { free: 10, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  "contact-mailbox": { free: 15, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
  "contact-mails": { free: 30, windowMs: minuteMs, firstWaitMs: minuteMs, longestWaitMs: minuteMs },
  // Answers that one team member mails.
  "contact-answer": { free: 60, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  // People's answers that one team member reads.
  "team-reading": { free: 60, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  // Mails that the team sends again: by one team member, and to one person.
  "team-mails": { free: 60, windowMs: hourMs, firstWaitMs: minuteMs, longestWaitMs: 15 * minuteMs },
  "team-mails-to": { free: 5, windowMs: hourMs, firstWaitMs: hourMs, longestWaitMs: hourMs },
} as const satisfies Record<string, Limit>;

/** The limit's name and what it counts for, such as `email:ada@example.com`. */
export type AttemptKey = `${keyof typeof limits}:${string}`;

/** The limit's name alone. */
export function limitName(key: AttemptKey): keyof typeof limits {
  return key.slice(0, key.indexOf(":")) as keyof typeof limits;
}

/** Limits that admins may have changed. */
type OwnLimits = Partial<Pick<SettingValues, "mailsPerMinute">>;

function limitOf(key: AttemptKey, { mailsPerMinute }: OwnLimits = {}): Limit {
  const limit = limits[limitName(key)];
  if (limitName(key) === "mails" && mailsPerMinute !== undefined) return { ...limit, free: mailsPerMinute };
  return key.endsWith("::/48") ? { ...limit, free: limit.free * siteShare } : limit;
}

type NetworkLimit = "address" | "mail-address" | "link-address" | "contact-address" | "passkey" | "passkey-challenge";

/** The keys of a network (client-network.ts) and of the site it belongs to. */
export function networkKeys(kind: NetworkLimit, network: string): AttemptKey[] {
  const site = clientSite(network);
  return [`${kind}:${network}`, ...(site === undefined ? [] : [`${kind}:${site}` as const])];
}

interface Taken {
  /** Null if the attempt may go on, otherwise how many seconds to wait. A refused attempt is not counted. */
  waitSeconds: number | null;
  /** True if the next attempt has to wait. */
  isLast: boolean;
}

/** Counts one attempt, in one statement, so that parallel guesses can't slip past the count. */
async function take(executor: Executor, key: AttemptKey, now: Date, own?: OwnLimits): Promise<Taken> {
  const { free, windowMs, firstWaitMs, longestWaitMs } = limitOf(key, own);
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

/** Counts one attempt. Returns null if it may go on, otherwise how many seconds to wait. */
export async function takeAttempt(executor: Executor, key: AttemptKey, now: Date): Promise<number | null> {
  return (await take(executor, key, now)).waitSeconds;
}

/**
 * Counts one attempt under each key. If one of the keys has to wait it writes nothing and throws `too_many_attempts` with
 * retryAfterSeconds, so a refusal costs us one read. Returns the keys under which the next attempt has to wait.
 */
export async function countAttempts(executor: Executor, keys: readonly AttemptKey[], own?: OwnLimits): Promise<AttemptKey[]> {
  const longest = await longestWait(executor, keys, new Date());
  if (longest) throw tooManyAttempts(longest.key, longest.seconds, own);
  const blocked: AttemptKey[] = [];
  for (const key of keys) {
    const taken = await take(executor, key, new Date(), own);
    if (taken.waitSeconds !== null) throw tooManyAttempts(key, taken.waitSeconds, own);
    if (taken.isLast) blocked.push(key);
  }
  return blocked;
}

/** Takes one counted attempt back under each key, because it was not a guess. */
export async function giveBackAttempts(executor: Executor, keys: readonly AttemptKey[], own?: OwnLimits): Promise<void> {
  for (const key of keys) {
    const { free } = limitOf(key, own);
    await sql`update auth_attempts set failures = failures - 1, blocked_until = case when failures > ${free}::integer then blocked_until end
      where key = ${key} and failures > 0`.execute(executor);
  }
}

/**
 * Counts an attempt and then does `work`; if the work could not be done, the attempt doesn't count. `work` gets the keys under which the
 * next attempt has to wait. Throws what countAttempts and `work` throw.
 */
export async function counted<T>(
  executor: Executor,
  keys: readonly AttemptKey[],
  work: (blocked: readonly AttemptKey[]) => Promise<T>,
  own?: OwnLimits,
): Promise<T> {
  const blocked = await countAttempts(executor, keys, own);
  try {
    return await work(blocked);
  } catch (error) {
    await giveBackAttempts(executor, keys, own);
    throw error;
  }
}

export async function forgetAttempts(executor: Executor, key: AttemptKey): Promise<void> {
  await executor.deleteFrom("auth_attempts").where("key", "=", key).execute();
}

/** The key with the longest wait, and its seconds. Undefined if none has to wait. */
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

function tooManyAttempts(key: AttemptKey, retryAfterSeconds: number, own?: OwnLimits): DomainError {
  const { free, windowMs } = limitOf(key, own);
  const limit = { name: limitName(key), quota: free, windowSeconds: windowMs / 1_000, remaining: 0, resetSeconds: retryAfterSeconds };
  return new RateLimitError("too_many_attempts", "Too many attempts. Wait a moment and try again", limit);
}
