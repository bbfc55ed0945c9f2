/** What waits for a team member. Each list is short and read by an index of what waits, so it costs the same however large the books are. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { validate as isUuid } from "uuid";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { FindingKind } from "#domain/findings.ts";
import { answerDueMs } from "#domain/inbox.ts";
import type { NeedKind } from "#domain/needs.ts";
import { mostPutOff } from "#domain/needs.ts";
import { currency, withdrawalDays } from "#domain/plans.ts";
import type { Config } from "../../config.ts";
import type { Needs } from "../../contract/admin/needs.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { showDispute } from "../billing/disputes.ts";
import { dashboardAddress } from "../billing/stripe-dashboard.ts";
import { elsewhereOf } from "../notifications/undelivered.ts";
import { readAilingModels } from "./ailing-models.ts";

/** Which entries of a list: all but those that were put off, or only those. */
interface Which {
  isPutOff: boolean;
  /** Those that were put off. */
  entries: readonly string[];
}

/** `entry` identifies the entry and what is to be done about it (contract/admin/needs.ts). */
const isShown = ({ isPutOff, entries }: Which, entry: RawBuilder<unknown>) =>
  isPutOff ? sql`${entry} = any (${entries}::text[])` : sql`${entry} <> all (${entries}::text[])`;
/** The same for entries that are told apart by an id alone. */
const isShownId = ({ isPutOff, entries }: Which, id: RawBuilder<unknown>) => {
  const ids = entries.filter((entry) => isUuid(entry));
  return isPutOff ? sql`${id} = any (${ids}::uuid[])` : sql`${id} <> all (${ids}::uuid[])`;
};

/** How many are shown. All that were put off can be brought back. */
const mostOf = ({ isPutOff }: Which) => (isPutOff ? mostPutOff : 20);
/** The sweep releases overdue holds within seconds. */
const stuckAfterSeconds = 600;

interface OfPerson {
  entry: string;
  user_id: string | null;
  email: string | null;
}

/** The person for whom the account pays; of several, the one who joined first. `account`: the column with the billing account. */
export const personOf = (account: RawBuilder<unknown>) => sql`left join lateral (
    select m.user_id, i.subject as email from billing_account_members m
      join identities i on i.user_id = m.user_id and i.kind = 'email'
      where m.billing_account_id = ${account} order by m.created_at, m.user_id limit 1) person on true`;

const whom = ({ user_id: userId, email }: Omit<OfPerson, "entry">) => ({ userId, email });

/** `show` gives the list's other fields, and by when the entry has to be done. */
function some<Row extends { entry: string }, Shown extends { dueBy: Date | null }>(
  which: Which,
  rows: readonly Row[],
  show: (row: Row) => Shown,
) {
  const shown = rows.slice(0, mostOf(which)).map((row) => {
    const { dueBy, ...rest } = show(row);
    return { ...rest, entry: row.entry, dueBy: dueBy?.toISOString() ?? null };
  });
  return { rows: shown, isMore: rows.length > mostOf(which) };
}

/** Findings about transfers have a list of their own, with the buttons that settle them. */
async function readFindings(executor: Executor, which: Which): Promise<Needs["findings"]> {
  const entry = sql`concat_ws(' ', id, md5(concat(details)))`;
  const { rows } = await sql<
    OfPerson & { id: string; kind: FindingKind; subject: string; first_seen_at: Date; times_seen: number }
  >`select f.entry, f.id::text as id, f.kind, f.subject, f.first_seen_at, f.times_seen, person.user_id, person.email
    from (select *, ${entry} as entry from findings where resolved_at is null and kind not in ('unreturned_transfer', 'surplus_transfer')
        and ${isShown(which, entry)}
      order by id limit ${mostOf(which) + 1}) f ${personOf(sql`f.billing_account_id`)}
    order by f.first_seen_at`.execute(executor);
  return some(which, rows, (row) => ({
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    firstSeenAt: row.first_seen_at.toISOString(),
    timesSeen: row.times_seen,
    ...whom(row),
    dueBy: null,
  }));
}

async function readFailedPayments(
  { db, config, clock }: Pick<Deps, "db" | "config" | "clock">,
  which: Which,
): Promise<Needs["failedPayments"]> {
  const entry = sql`concat_ws(' ', id, needs_action)`;
  const { rows } = await sql<
    OfPerson & {
      id: string;
      unpaid_cents: number;
      needs_action: boolean;
      issued_at: Date;
      plan_key: string | null;
      grace_until: Date | null;
    }
  >`select f.entry, f.id, f.unpaid_cents, f.needs_action, f.issued_at, f.plan_key, person.user_id, person.email, grace.grace_until
    from (select *, ${entry} as entry from invoices where status = 'open' and (failed or needs_action) and ${isShown(which, entry)}
      order by issued_at, id limit ${mostOf(which) + 1}) f
    ${personOf(sql`f.billing_account_id`)}
    -- An aggregate keeps PostgreSQL from reading all subscriptions at once.
    cross join lateral (select max(s.grace_until) as grace_until from user_subscriptions s where s.user_id = person.user_id
      and s.stripe_subscription_id = f.stripe_subscription_id and s.grace_until > ${clock.now()}) grace
    order by f.issued_at`.execute(db);
  return some(which, rows, (row) => ({
    id: row.id,
    unpaidCents: row.unpaid_cents,
    needsAction: row.needs_action,
    issuedAt: row.issued_at.toISOString(),
    canMail: row.plan_key !== null && row.grace_until !== null,
    dashboardUrl: dashboardAddress(config.stripe, "invoices", row.id),
    ...whom(row),
    dueBy: row.grace_until,
  }));
}

/** The one that has to be answered soonest comes first. */
async function readDisputes(executor: Executor, config: Config, which: Which): Promise<Needs["disputes"]> {
  const entry = sql`concat_ws(' ', charge_id, extract(epoch from evidence_due_at)::bigint)`;
  const { rows } = await sql<OfPerson & { charge_id: string; paid_cents: number; recorded_at: Date; evidence_due_at: Date | null }>`
    select f.entry, f.charge_id, f.paid_cents, f.recorded_at, f.evidence_due_at, person.user_id, person.email
    from (select *, ${entry} as entry from charge_returns where disputed and ${isShown(which, entry)}
      order by evidence_due_at, charge_id limit ${mostOf(which) + 1}) f
    ${personOf(sql`f.billing_account_id`)} order by f.evidence_due_at, f.recorded_at`.execute(executor);
  return some(which, rows, (row) => ({ ...showDispute(config, row), ...whom(row), dueBy: row.evidence_due_at }));
}

/** Claims first, because no deadline ends them; then money to be transferred back, the longest waiting first. */
async function readTransfers(executor: Executor, which: Which): Promise<Needs["transfers"]> {
  const [claim, back] = [sql`'claim ' || id`, sql`'return ' || id`];
  const { rows } = await sql<
    OfPerson & { id: string; side: "return" | "claim"; invoice_id: string; reference: string; amount_cents: number; since: Date }
  >`select f.entry, f.id, f.side, f.invoice_id, f.transfer_reference as reference, f.amount_cents, f.since, person.user_id, person.email
    from (
      (select m.*, ${claim} as entry, 'claim' as side, claimed_at as since from money_backs m where claimed_at is not null and reclaimed_at is null
        and ${isShown(which, claim)}
        order by claimed_at limit ${mostOf(which) + 1})
      union all
      (select m.*, ${back}, 'return', asked_at from money_backs m where done_at is null and charge_id is null
        and ${isShown(which, back)} order by asked_at limit ${mostOf(which) + 1})
    ) f ${personOf(sql`f.billing_account_id`)} order by f.side, f.since, f.id`.execute(executor);
  return some(which, rows, (row) => {
    const dueBy = row.side === "return" ? addMilliseconds(row.since, withdrawalDays * dayMs) : null;
    const { id, side, invoice_id: invoiceId, reference, amount_cents: amountCents, since } = row;
    const money = { invoiceId, reference, amountCents, currency };
    return { id, side, ...money, since: since.toISOString(), dueAt: dueBy?.toISOString() ?? null, ...whom(row), dueBy };
  });
}

async function readRefusedMails(executor: Executor, which: Which): Promise<Needs["refusedMails"]> {
  const entry = sql`d.id`;
  const { rows } = await sql<
    OfPerson & { id: string; template: string; recipient: string; parameters: Record<string, string>; error: string; failed_at: Date }
  >`
    select ${entry} as entry, d.id, m.template, m.recipient, m.parameters, d.error, d.failed_at, m.user_id, i.subject as email
    from dead_letters d join mails m on m.id = d.mail_id
    left join identities i on i.user_id = m.user_id and i.kind = 'email'
    where d.job = 'send-mail' and d.replayed_at is null and ${isShownId(which, entry)}
    order by d.failed_at, d.id limit ${mostOf(which) + 1}`.execute(executor);
  return some(which, rows, (row) => ({
    id: row.id,
    template: row.template,
    recipient: row.recipient,
    error: row.error,
    failedAt: row.failed_at.toISOString(),
    ...whom(row),
    elsewhere: elsewhereOf(row, row.email),
    dueBy: null,
  }));
}

async function readHolds(executor: Executor, which: Which): Promise<Needs["holds"]> {
  const entry = sql`id`;
  const { rows } = await sql<OfPerson & { id: string; credits: number; deadline: Date }>`
    select f.entry, f.id, f.amount - f.settled as credits, f.deadline, person.user_id, person.email
    from (select *, ${entry} as entry from holds where state = 'open' and deadline < clock_timestamp() - make_interval(secs => ${stuckAfterSeconds})
        and ${isShownId(which, entry)}
      order by deadline limit ${mostOf(which) + 1}) f
    join wallets w on w.id = f.wallet_id ${personOf(sql`w.billing_account_id`)} order by f.deadline`.execute(executor);
  return some(which, rows, (row) => ({
    ...{ id: row.id, credits: row.credits, deadline: row.deadline.toISOString() },
    ...whom(row),
    dueBy: null,
  }));
}

async function readUnanswered(executor: Executor, now: Date, which: Which): Promise<Needs["unanswered"]> {
  // Counts the changes of status: if a colleague has closed the message and opened it again, it is another entry, which nobody put off.
  const entry = sql`id || ' ' || (select count(*) from contact_events e where e.message_id = contact_messages.id and e.kind = 'status')`;
  const due = addMilliseconds(now, -answerDueMs);
  const { rows } = await sql<{ entry: string; id: string; topic: string; created_at: Date; user_id: string | null; email: string }>`
    select m.entry, m.id, coalesce(m.subject, m.name) as topic, m.created_at, m.user_id, coalesce(i.subject, m.email) as email
    from (select *, ${entry} as entry from contact_messages where status = 'open' and created_at < ${due} and ${isShown(which, entry)}
      order by created_at, id limit ${mostOf(which) + 1}) m
    left join identities i on i.user_id = m.user_id and i.kind = 'email' order by m.created_at, m.id`.execute(executor);
  return some(which, rows, (row) => ({
    id: row.id,
    topic: row.topic,
    since: row.created_at.toISOString(),
    userId: row.user_id,
    email: row.email,
    // No deadline: the answer is late already.
    dueBy: null,
  }));
}

/** All but refused mails, which are a list of their own. */
async function readLetters(executor: Executor, which: Which): Promise<Needs["deadLetters"]> {
  // With `offset 0` PostgreSQL looks for the mail of each letter, where it may otherwise read all mails once.
  const entry = sql`d.id`;
  const { rows } = await sql<{ entry: string; id: string; job: string; error: string; failed_at: Date }>`
    select ${entry} as entry, d.id, d.job, d.error, d.failed_at from dead_letters d where d.replayed_at is null and ${isShownId(which, entry)}
      and (d.job <> 'send-mail' or not exists (select from mails m where m.id = d.mail_id offset 0))
    order by d.failed_at, d.id limit ${mostOf(which) + 1}`.execute(executor);
  return some(which, rows, ({ id, job, error, failed_at: at }) => ({ id, job, error, failedAt: at.toISOString(), dueBy: null }));
}

/** A model that fails is paused for minutes and fails again: that is one entry. That it ends is another entry, with its day. */
async function readModels(deps: ListDeps, which: Which): Promise<Needs["models"]> {
  const ailing = (await readAilingModels(deps)).map((model) => {
    const what = model.why === "ending" ? `ending ${model.until}` : "failing";
    return { ...model, entry: `${model.id} ${what}`, dueBy: model.why === "ending" && model.until !== null ? new Date(model.until) : null };
  });
  const rows = ailing.filter(({ entry }) => which.entries.includes(entry) === which.isPutOff);
  return some(which, rows, ({ entry: _entry, ...model }) => model);
}

export type ListDeps = Pick<Deps, "db" | "config" | "clock" | "models" | "switches" | "live" | "log">;
type Lists = Pick<Needs, NeedKind>;

/** By kind, how its list is read. */
export const needLists: { [Kind in NeedKind]: (deps: ListDeps, which: Which) => Promise<Lists[Kind]> } = {
  findings: ({ db }, which) => readFindings(db, which),
  deadLetters: ({ db }, which) => readLetters(db, which),
  failedPayments: readFailedPayments,
  disputes: ({ db, config }, which) => readDisputes(db, config, which),
  holds: ({ db }, which) => readHolds(db, which),
  unanswered: ({ db, clock }, which) => readUnanswered(db, clock.now(), which),
  refusedMails: ({ db }, which) => readRefusedMails(db, which),
  transfers: ({ db }, which) => readTransfers(db, which),
  models: readModels,
};
