/**
 * Measures the longest batch of each retention sweep. A batch is one statement and one transaction, so its time is the longest
 * that other work may have to wait for its locks. Every table is filled with rows past their limit. Of the drop of a partition it
 * measures how long writers of the log wait: PostgreSQL releases the locks before it removes the files.
 */
import { sql } from "kysely";
import pg from "pg";
import type { Sweep } from "#domain/kept-periods.ts";
import { dropLogPartitions } from "#server/features/generations/log-partitions.ts";
import { sweepRetention } from "#server/features/retention/service.ts";
import type { BenchServer } from "./support.ts";

const rows = 100_000;
/** The longest time a batch may hold its locks. */
const boundMs = 100;

/** People, on whom the other rows depend. */
const people = [
  `insert into users (created_at) select now() from generate_series(1, ${rows / 10}) n`,
  "insert into wallets (id, billing_account_id, created_at) select id, payer_of(id), now() from users",
  `insert into holds (id, wallet_id, amount, settled, state, deadline, created_at, ended_at)
     select id, id, 1, 1, 'released', now(), now(), now() from users`,
];

/**
 * What each sweep finds, in rows of realistic size: an answer's log batch and a Stripe payload have more than a kilobyte each. `sameAs`: another
 * sweep finds the same rows, later.
 */
const fillings: Record<Sweep, readonly [string, ...string[]] | { sameAs: Sweep }> = {
  signUps: [
    `insert into sign_ups (id, email, password_hash, language, created_at)
     select uuidv7(), 'old-' || n || '@example.com', repeat('x', 97) || n, 'en', now() - interval '400 days' + n * interval '1 second' from generate_series(1, ${rows}) n`,
  ],
  pendingSignIns: [
    `insert into pending_sign_ins (id, user_id, factor, created_at, expires_at)
     select uuidv7(), id, 'password', now(), now() - interval '3 days' + n * interval '1 second' from users, generate_series(1, 10) n`,
  ],
  passkeyChallenges: [
    `insert into passkey_challenges (challenge, purpose, expires_at)
     select sha256(n::text::bytea), 'sign_in', now() - interval '3 days' + n * interval '0.1 seconds' from generate_series(1, ${rows}) n`,
  ],
  factorResets: [
    `insert into factor_resets (id, user_id, asked_at, due_at, ended_at, ending)
     select uuidv7(), id, now(), now(), now() - interval '40 days' + n * interval '1 second', 'cancelled' from users, generate_series(1, 10) n`,
  ],
  links: [
    // A link of every sign-up, and used links of people.
    `insert into email_links (sign_up_id, purpose, token_hash, expires_at, created_at) select id, 'confirm', sha256(id::text::bytea), now() - interval '1 day', created_at
     from sign_ups`,
    `insert into email_links (user_id, purpose, token_hash, used_at, expires_at, created_at) select id, 'confirm', sha256(('used' || id || n)::bytea), now() - interval '30 days' + random() * interval '1 day', now(), now()
     from users, generate_series(1, 10) n`,
  ],
  sessions: [
    `insert into auth_sessions (user_id, token_hash, rotated_at, expires_at, revoked_at, created_at) select id, sha256((id::text || n)::bytea), now(), now(), now() - interval '60 days' + random() * interval '1 day', now()
     from users, generate_series(1, 10) n`,
  ],
  attempts: [
    `insert into auth_attempts (key, failures, window_started_at) select 'email:' || n, 1, now() - interval '3 days' + n * interval '1 millisecond' from generate_series(1, ${rows}) n`,
  ],
  answerLogs: [
    // Each is a transcript of what was spoken into the composer.
    `insert into generations (id, user_id, payer_id, model_id, idempotency_key, request_hash, status, hold_id, quoted_credits, charged_credits, lease_owner, lease_expires_at, created_at, ended_at, options)
     select uuidv7(interval '-40 days' + n * interval '1 second'), u.id, payer_of(u.id), 'gpt-5', 'key-of-' || n, '', 'completed', u.id, 1, 1, u.id, now(), now() - interval '40 days' + n * interval '1 second', now() - interval '30 days',
       jsonb_build_object('recording', jsonb_build_object('fileId', u.id, 'durationMs', 1, 'dictated', true))
     from (select id, row_number() over () as n from users) u`,
    `insert into generation_events (generation_id, first_event, last_event, frames)
     select id, n, n, (select string_agg(md5(id::text || n || m), '') from generate_series(1, 30) m) from generations, generate_series(1, 10) n`,
    // A partition of the log past its limit. Its rows' answers are not needed: the log does not refer to them.
    `select answer_log_make_partition(date_bin('12 hours', now() - interval '20 days', '2000-01-01T00:00Z'))`,
    `insert into generation_events (generation_id, first_event, last_event, frames)
     select uuidv7(date_bin('12 hours', now() - interval '20 days', '2000-01-01T00:00Z') - now() + n * interval '0.2 seconds'), 1, 1, (select string_agg(md5(n::text || m), '') from generate_series(1, 30) m)
     from generate_series(1, ${rows}) n`,
  ],
  answerKeys: [
    `insert into generation_keys (user_id, key, generation_id, created_at)
     select id, 'key-of-' || n, id, now() - interval '100 days' + n * interval '1 second' from users, generate_series(1, 10) n`,
  ],
  deadLetters: [
    `insert into dead_letters (id, job, payload, error, attempts, replayed_at) select uuidv7(), 'send-mail', '{}', 'no', 1, now() - interval '100 days' + n * interval '1 second' from generate_series(1, ${rows}) n`,
  ],
  mailBodies: { sameAs: "mails" },
  mails: [
    `insert into mails (key, user_id, recipient, template, language, parameters, created_at)
     select 'old:' || u.id || n, u.id, 'ada@example.com', 'account-exists', 'en', jsonb_build_object('a', repeat('x', 500)), now() - interval '400 days' + random() * interval '1 day'
     from users u, generate_series(1, 10) n`,
  ],
  contactMessages: [
    `insert into contact_messages (idempotency_key, content_hash, name, email, category, message, language, created_at)
     select gen_random_uuid(), '', 'Ada', 'ada@example.com', 'bug', repeat('It is broken. ', 100), 'en', now() - interval '800 days' + n * interval '1 second' from generate_series(1, ${rows}) n`,
  ],
  auditEvents: [
    `insert into audit_events (at, action, details) select now() - interval '800 days' + n * interval '1 second', 'profile.changed', '{}' from generate_series(1, ${rows}) n`,
  ],
  exportFiles: { sameAs: "exports" },
  exports: [
    `insert into data_exports (user_id, status, asked_at, ready_at, expires_at, bytes)
     select id, 'ready', now() - interval '9 days' + n * interval '1 second', now() - interval '9 days' + n * interval '1 second', now(), 1 from users, generate_series(1, 10) n`,
  ],
  unsentFiles: [
    `insert into files (user_id, kind, name, content_type, bytes, created_at)
       select id, 'attachment', 'notes.txt', 'text/plain', 1000, now() - interval '30 days' + n * interval '1 second' from users, generate_series(1, 10) n`,
  ],
  dictations: [
    "insert into generation_parts (generation_id, place, kind, text) select id, 1, 'text', repeat('So it was said. ', 60) from generations",
  ],
  unfinishedFiles: [
    `insert into files (user_id, kind, name, bytes, created_at, reserved_at)
       select id, 'output', 'picture.png', 1000, now(), now() - interval '3 days' + n * interval '1 second' from users, generate_series(1, 10) n`,
  ],
  stripePayloads: [
    `insert into stripe_events (id, type, livemode, payload, received_at, status)
     select 'evt_' || n, 'invoice.paid', false, jsonb_build_object('a', (select string_agg(md5(n::text || m), '') from generate_series(1, 40) m)), now() - interval '100 days' + n * interval '1 second', 'processed'
     from generate_series(1, ${rows}) n`,
  ],
  googleAnswers: [
    `insert into google_answers (id, subject, email, created_at, expires_at)
     select uuidv7(), n::text, 'ada' || n || '@example.com', now() - interval '5 days' + n * interval '1 second', now() from generate_series(1, ${rows}) n`,
  ],
  trialMailboxes: [
    `insert into trial_mailboxes (mailbox_hash, started_at) select sha256(n::text::bytea), now() - interval '800 days' + n * interval '1 second' from generate_series(1, ${rows}) n`,
  ],
  findings: [
    `insert into findings (kind, subject, details, first_seen_at, last_seen_at, resolved_at, resolved_by)
     select 'lost_event', 'evt_' || n, '{}', now() - interval '500 days', now() - interval '500 days', now() - interval '500 days' + n * interval '1 second', 'hourly'
     from generate_series(1, ${rows}) n`,
  ],
  paymentChecks: [
    // An account has one row: of the last check.
    "insert into payment_checks (billing_account_id, window_began_at) select id, now() - interval '40 days' from billing_accounts",
  ],
  abandonedOrders: [
    `insert into orders (id, billing_account_id, price_id, amount_cents, currency, credits, language, terms, withdrawal, consented_at)
     select uuidv7(), a.id, 'starter_month', 1999, 'usd', 300, 'en', '1', '1', now() - interval '60 days' + n * interval '1 second' from billing_accounts a, generate_series(1, 10) n`,
  ],
  unpaidOrders: [
    `insert into orders (id, billing_account_id, price_id, amount_cents, currency, credits, language, terms, withdrawal, consented_at, stripe_subscription_id)
     select uuidv7(), a.id, 'starter_month', 1999, 'usd', 300, 'en', '1', '1', now() - interval '120 days' + n * interval '1 second', 'sub_' || n || a.id from billing_accounts a, generate_series(1, 10) n`,
  ],
  supportAccess: [
    // A person has one row.
    "insert into support_access (user_id, asked_at) select id, now() - interval '60 days' + random() * interval '1 day' from users",
  ],
  putOffNeeds: [
    `insert into put_off_needs (kind, entry, until, reason, created_at)
     select 'findings', id::text, now() - interval '10 days' + random() * interval '1 day', 'It waits for the bank', now() - interval '30 days' from users`,
  ],
};

interface SweepFigures {
  sweep: string;
  rows: number;
  longestMs: number;
}

async function measureDrop({ db }: BenchServer): Promise<SweepFigures> {
  const figures = { sweep: "a partition of answerLogs", rows, longestMs: 0 };
  let dropping = true;
  const writing = (async () => {
    while (dropping) {
      const startedAt = performance.now();
      await sql`insert into generation_events (generation_id, first_event, last_event, frames) values (uuidv7(), 1, 1, '')`.execute(db);
      figures.longestMs = Math.max(figures.longestMs, performance.now() - startedAt);
    }
  })();
  const dropped = await dropLogPartitions({ db }, new AbortController().signal);
  dropping = false;
  await writing;
  if (dropped.length !== 1) throw new Error(`one partition should have been dropped, not ${dropped.length}`);
  return figures;
}

export async function measureRetention(server: BenchServer): Promise<SweepFigures[]> {
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  const statements = Object.values(fillings).flatMap((filling) => ("sameAs" in filling ? [] : filling));
  for (const statement of [...people, ...statements]) await owner.query(statement);
  await owner.query("analyze");
  await owner.end();
  const fail = (details: unknown) => console.error(details);
  const log = { error: fail, warn: () => {} } as never;
  const swept = await sweepRetention({ db: server.db, log }, new AbortController().signal);
  const idle = (Object.keys(swept) as Sweep[]).filter((sweep) => swept[sweep]?.rows === 0);
  if (idle.length > 0) throw new Error(`there was nothing to delete for ${idle.join(", ")}: it needs rows here`);
  return [
    ...(Object.keys(swept) as Sweep[]).map((sweep) => ({ sweep, rows: swept[sweep]?.rows ?? 0, longestMs: swept[sweep]?.longestMs ?? 0 })),
    await measureDrop(server),
  ];
}

export function reportRetention({ sweep, rows: count, longestMs }: SweepFigures): void {
  const verdict = longestMs <= boundMs ? "reached" : "MISSED";
  console.log(`retention, ${sweep}: ${count} rows, longest batch ${longestMs.toFixed(1)} ms (≤ ${boundMs}) ${verdict}`);
}
