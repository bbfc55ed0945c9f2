/** What waits for a team member. Each list is short and read by an index of what waits, so it costs the same however large the books are. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { addMilliseconds, dayMs } from "#domain/clock.ts";
import type { FindingKind } from "#domain/findings.ts";
import { answerDueMs } from "#domain/inbox.ts";
import type { NeedKind } from "#domain/needs.ts";
import { needSubject } from "#domain/needs.ts";
import { currency, withdrawalDays } from "#domain/plans.ts";
import type { Config } from "../../config.ts";
import type { Needs } from "../../contract/admin-needs.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { showDispute } from "../billing/disputes.ts";
import { dashboardAddress } from "../billing/stripe-dashboard.ts";
import { mailOfLetter } from "../notifications/mail-of-letter.ts";
import { elsewhereOf } from "../notifications/undelivered.ts";
import { readAilingModels } from "./ailing-models.ts";

/** Which entries of a list: all but those that were put off, or only those. */
interface Which {
  isPutOff: boolean;
  /** Of the entries that were put off. */
  subjects: readonly string[];
}

/** `subject`: the column that says which entry it is, and its type. */
const isShown = ({ isPutOff, subjects }: Which, subject: RawBuilder<unknown>, type: RawBuilder<unknown>) =>
  isPutOff ? sql`${subject} = any (${subjects}::${type}[])` : sql`${subject} <> all (${subjects}::${type}[])`;

const most = 20;
/** The sweep releases overdue holds within seconds. */
const stuckAfterSeconds = 600;

interface OfPerson {
  user_id: string | null;
  email: string | null;
}

/** The person for whom the account pays; of several, the one who joined first. `account`: the column with the billing account. */
const personOf = (account: RawBuilder<unknown>) => sql`left join lateral (
    select m.user_id, i.subject as email from billing_account_members m
      join identities i on i.user_id = m.user_id and i.kind = 'email'
      where m.billing_account_id = ${account} order by m.created_at, m.user_id limit 1) person on true`;

const whom = ({ user_id: userId, email }: OfPerson) => ({ userId, email });

function some<Row, Shown>(rows: readonly Row[], show: (row: Row) => Shown): { rows: Shown[]; isMore: boolean } {
  return { rows: rows.slice(0, most).map(show), isMore: rows.length > most };
}

/** Findings about transfers have a list of their own, with the buttons that settle them. */
async function readFindings(executor: Executor, which: Which): Promise<Needs["findings"]> {
  const { rows } = await sql<
    OfPerson & { id: string; kind: FindingKind; subject: string; first_seen_at: Date; times_seen: number }
  >`select f.id::text as id, f.kind, f.subject, f.first_seen_at, f.times_seen, person.user_id, person.email
    from (select * from findings where resolved_at is null and kind not in ('unreturned_transfer', 'surplus_transfer')
        and ${isShown(which, sql`id`, sql`uuid`)}
      order by id limit ${most + 1}) f ${personOf(sql`f.billing_account_id`)}
    order by f.first_seen_at`.execute(executor);
  return some(rows, (row) => ({
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    firstSeenAt: row.first_seen_at.toISOString(),
    timesSeen: row.times_seen,
    ...whom(row),
  }));
}

async function readFailedPayments(
  { db, config, clock }: Pick<Deps, "db" | "config" | "clock">,
  which: Which,
): Promise<Needs["failedPayments"]> {
  const { rows } = await sql<
    OfPerson & { id: string; unpaid_cents: number; needs_action: boolean; issued_at: Date; can_mail: boolean }
  >`select f.id, f.unpaid_cents, f.needs_action, f.issued_at, person.user_id, person.email, f.plan_key is not null and grace.found as can_mail
    from (select * from invoices where status = 'open' and (failed or needs_action) and ${isShown(which, sql`id`, sql`text`)}
      order by issued_at, id limit ${most + 1}) f
    ${personOf(sql`f.billing_account_id`)}
    -- An aggregate keeps PostgreSQL from reading all subscriptions at once.
    cross join lateral (select count(*) > 0 as found from user_subscriptions s where s.user_id = person.user_id
      and s.stripe_subscription_id = f.stripe_subscription_id and s.grace_until > ${clock.now()}) grace
    order by f.issued_at`.execute(db);
  return some(rows, (row) => ({
    id: row.id,
    unpaidCents: row.unpaid_cents,
    needsAction: row.needs_action,
    issuedAt: row.issued_at.toISOString(),
    canMail: row.can_mail,
    dashboardUrl: dashboardAddress(config.stripe, "invoices", row.id),
    ...whom(row),
  }));
}

/** The one that has to be answered soonest comes first. */
async function readDisputes(executor: Executor, config: Config, which: Which): Promise<Needs["disputes"]> {
  const { rows } = await sql<OfPerson & { charge_id: string; paid_cents: number; recorded_at: Date; evidence_due_at: Date | null }>`
    select f.charge_id, f.paid_cents, f.recorded_at, f.evidence_due_at, person.user_id, person.email
    from (select * from charge_returns where disputed and ${isShown(which, sql`charge_id`, sql`text`)}
      order by evidence_due_at, charge_id limit ${most + 1}) f
    ${personOf(sql`f.billing_account_id`)} order by f.evidence_due_at, f.recorded_at`.execute(executor);
  return some(rows, (row) => ({ ...showDispute(config, row), ...whom(row) }));
}

/** Claims first, because no deadline ends them; then money to be transferred back, the longest waiting first. */
async function readTransfers(executor: Executor, which: Which): Promise<Needs["transfers"]> {
  const { rows } = await sql<
    OfPerson & { id: string; side: "return" | "claim"; invoice_id: string; reference: string; amount_cents: number; since: Date }
  >`select f.id, f.side, f.invoice_id, f.transfer_reference as reference, f.amount_cents, f.since, person.user_id, person.email
    from (
      (select m.*, 'claim' as side, claimed_at as since from money_backs m where claimed_at is not null and reclaimed_at is null
        and ${isShown(which, sql`'claim ' || id`, sql`text`)}
        order by claimed_at limit ${most + 1})
      union all
      (select m.*, 'return', asked_at from money_backs m where done_at is null and charge_id is null
        and ${isShown(which, sql`'return ' || id`, sql`text`)} order by asked_at limit ${most + 1})
    ) f ${personOf(sql`f.billing_account_id`)} order by f.side, f.since, f.id`.execute(executor);
  return some(rows, (row) => ({
    ...{ id: row.id, side: row.side, invoiceId: row.invoice_id, reference: row.reference, amountCents: row.amount_cents, currency },
    since: row.since.toISOString(),
    dueAt: row.side === "return" ? addMilliseconds(row.since, withdrawalDays * dayMs).toISOString() : null,
    ...whom(row),
  }));
}

async function readRefusedMails(executor: Executor, which: Which): Promise<Needs["refusedMails"]> {
  const { rows } = await sql<
    OfPerson & { id: string; template: string; recipient: string; parameters: Record<string, string>; error: string; failed_at: Date }
  >`
    select d.id, m.template, m.recipient, m.parameters, d.error, d.failed_at, m.user_id, i.subject as email
    from dead_letters d join mails m on m.id = ${mailOfLetter}
    left join identities i on i.user_id = m.user_id and i.kind = 'email'
    where d.job = 'send-mail' and d.replayed_at is null and ${isShown(which, sql`d.id`, sql`uuid`)}
    order by d.failed_at, d.id limit ${most + 1}`.execute(executor);
  return some(rows, (row) => ({
    id: row.id,
    template: row.template,
    recipient: row.recipient,
    error: row.error,
    failedAt: row.failed_at.toISOString(),
    ...whom(row),
    elsewhere: elsewhereOf(row, row.email),
  }));
}

async function readHolds(executor: Executor, which: Which): Promise<Needs["holds"]> {
  const { rows } = await sql<OfPerson & { id: string; credits: number; deadline: Date }>`
    select f.id, f.amount - f.settled as credits, f.deadline, person.user_id, person.email
    from (select * from holds where state = 'open' and deadline < clock_timestamp() - make_interval(secs => ${stuckAfterSeconds})
        and ${isShown(which, sql`id`, sql`uuid`)}
      order by deadline limit ${most + 1}) f
    join wallets w on w.id = f.wallet_id ${personOf(sql`w.billing_account_id`)} order by f.deadline`.execute(executor);
  return some(rows, (row) => ({ id: row.id, credits: row.credits, deadline: row.deadline.toISOString(), ...whom(row) }));
}

async function readUnanswered(executor: Executor, now: Date, which: Which): Promise<Needs["unanswered"]> {
  const due = addMilliseconds(now, -answerDueMs);
  const { rows } = await sql<{ id: string; topic: string; created_at: Date; user_id: string | null; email: string }>`
    select m.id, coalesce(m.subject, m.name) as topic, m.created_at, m.user_id, coalesce(i.subject, m.email) as email
    from (select * from contact_messages where status = 'open' and created_at < ${due} and ${isShown(which, sql`id`, sql`uuid`)}
      order by created_at, id limit ${most + 1}) m
    left join identities i on i.user_id = m.user_id and i.kind = 'email' order by m.created_at, m.id`.execute(executor);
  return some(rows, (row) => ({
    id: row.id,
    topic: row.topic,
    since: row.created_at.toISOString(),
    userId: row.user_id,
    email: row.email,
  }));
}

/** All but refused mails, which are a list of their own. */
async function readLetters(executor: Executor, which: Which): Promise<Needs["deadLetters"]> {
  const { rows } = await sql<{ id: string; job: string; error: string; failed_at: Date }>`
    select d.id, d.job, d.error, d.failed_at from dead_letters d where d.replayed_at is null and ${isShown(which, sql`d.id`, sql`uuid`)}
      and (d.job <> 'send-mail' or not exists (select from mails m where m.id = ${mailOfLetter}))
    order by d.failed_at, d.id limit ${most + 1}`.execute(executor);
  return some(rows, ({ id, job, error, failed_at: at }) => ({ id, job, error, failedAt: at.toISOString() }));
}

async function readModels(deps: ListDeps, { isPutOff, subjects }: Which): Promise<Needs["models"]> {
  const ailing = await readAilingModels(deps);
  return some(
    ailing.filter((model) => subjects.includes(needSubject(model)) === isPutOff),
    (model) => model,
  );
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
