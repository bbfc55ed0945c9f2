/**
 * A person's check of their own payments: reads what Stripe has of them, repairs what is wrong (examine-account.ts), and says what that was.
 * One check at a time for each account: whoever asks meanwhile gets its result. It is bounded in time. The person may check a few times an
 * hour, and so may the team, whose checks don't count as the person's.
 */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { minuteMs } from "#domain/clock.ts";
import { DomainError } from "#domain/errors.ts";
import type { Finding } from "#domain/findings.ts";
import type { PaymentCheck, RepairedItem } from "../../contract/billing/doctor.ts";
import { recordAct } from "../../db/audit.ts";
import { findPayer } from "../../db/payer.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { failureKind } from "../../failures.ts";
import { RateLimitError } from "../../http/rate-limit-fields.ts";
import { createPayments } from "../../providers/stripe.ts";
import { selectAccount } from "./check-queries.ts";
import { examineAccount } from "./examine-account.ts";
import { ensureLeaseRow, whileAlone } from "./payments-lease.ts";

/** After this time every call of Stripe's is cut off. */
const runMs = 20_000;
const lookEveryMs = 200;
const checksAnHour = 6;
/** By the whole team together. */
const teamChecksAnHour = 12;
const windowMinutes = 60;

export interface Asker {
  /** Whose payments. */
  userId: string;
  /** Who asks: the person, or an admin for them. */
  actor: string;
  network: string;
  /** Why an admin asks. */
  reason?: string;
}

function tooMany(name: string, quota: number, resetSeconds: number): RateLimitError {
  const limit = { name, quota, windowSeconds: windowMinutes * 60, remaining: 0, resetSeconds };
  return new RateLimitError("rate_limited", "The payments were checked several times in the last hour", limit);
}

/** Counts a check of the person's own. Throws `rate_limited` if there were too many. */
async function countOwn(executor: Executor, payerId: string): Promise<void> {
  const windowEnd = sql`window_began_at + make_interval(mins => ${windowMinutes})`;
  const { rows } = await sql<{ checks: number; wait: number }>`
    update payment_checks set
        checks = case when ${windowEnd} <= clock_timestamp() then 1 else checks + 1 end,
        window_began_at = case when ${windowEnd} <= clock_timestamp() then clock_timestamp() else window_began_at end
      where billing_account_id = ${payerId}
      returning checks, ceil(extract(epoch from ${windowEnd} - clock_timestamp()))::integer as wait`.execute(executor);
  const { checks, wait } = rows[0] ?? { checks: 1, wait: 0 };
  if (checks > checksAnHour) throw tooMany("payment-checks", checksAnHour, wait);
}

/** The team's checks of the person are counted by the audit log, which has each of them. Throws `rate_limited` if there were too many. */
async function countTeams(executor: Executor, userId: string): Promise<void> {
  const { rows } = await sql<{ checks: number; wait: number | null }>`
    select count(*)::integer as checks,
        ceil(extract(epoch from min(at) + make_interval(mins => ${windowMinutes}) - clock_timestamp()))::integer as wait
      from audit_events e join audit_people p on p.id = e.subject
      where p.user_id = ${userId} and e.action = 'payments.checked' and e.at > clock_timestamp() - make_interval(mins => ${windowMinutes})`.execute(
    executor,
  );
  const { checks, wait } = rows[0] ?? { checks: 0, wait: null };
  if (checks >= teamChecksAnHour) throw tooMany("team-payment-checks", teamChecksAnHour, Math.max(1, wait ?? 1));
}

async function save(executor: Executor, payerId: string, result: PaymentCheck): Promise<void> {
  await sql`update payment_checks set finished_at = clock_timestamp(), result = ${JSON.stringify(result)}::jsonb
    where billing_account_id = ${payerId}`.execute(executor);
}

/** What a check has found that finished after `since`. */
async function resultSince(executor: Executor, payerId: string, since: string): Promise<PaymentCheck | undefined> {
  const { rows } = await sql<{ result: PaymentCheck }>`select result from payment_checks
    where billing_account_id = ${payerId} and finished_at > ${since}::timestamptz`.execute(executor);
  return rows[0]?.result;
}

async function databaseNow(executor: Executor): Promise<string> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(executor);
  return rows[0]?.now ?? "infinity";
}

function toItem({ kind, details, isRepaired }: Finding): RepairedItem {
  const credits = Number(details.credits ?? 0);
  if (!isRepaired) return { kind: "left" };
  switch (kind) {
    case "unrecorded_payment":
    case "missing_grant":
      return { kind: "payment_booked", paidAt: String(details.paidAt), amountCents: Number(details.amountCents), credits };
    case "stale_hold":
      return { kind: "credits_released", credits };
    case "doubled_grant":
      return { kind: "doubled_removed", credits };
    case "unbooked_return":
      return { kind: "refund_booked" };
    case "wrong_invoice":
      return { kind: "invoice_updated" };
    default:
      return { kind: "subscription_updated" };
  }
}

/** Items that only say what kind of thing was repaired are listed once. */
function withoutRepeats(items: readonly RepairedItem[]): RepairedItem[] {
  const plain = new Set<string>();
  return items.filter((item) => {
    if ("credits" in item) return true;
    return !plain.has(item.kind) && plain.add(item.kind);
  });
}

async function examine(deps: Deps, payerId: string): Promise<PaymentCheck> {
  const account = await selectAccount(deps.db, payerId);
  if (!account) return { complete: true, items: [] };
  const signal = AbortSignal.timeout(runMs);
  const payments = createPayments(deps.config.stripe, signal);
  const found: Finding[] = [];
  let complete = true;
  try {
    await examineAccount({ deps: { ...deps, payments }, by: "doctor", signal }, account, found);
  } catch (error) {
    if (!signal.aborted && failureKind(error) !== "outage") throw error;
    deps.log.warn({ err: error }, "a check of payments was cut short");
    complete = false;
  }
  return { complete, items: withoutRepeats(found.map(toItem)) };
}

async function run(deps: Deps, payerId: string, { userId, actor, network, reason }: Asker): Promise<PaymentCheck> {
  if (actor === userId) await countOwn(deps.db, payerId);
  else {
    await countTeams(deps.db, userId);
    const act = { actor, subject: userId, action: "payments.checked", network, details: {} } as const;
    await recordAct(deps.db, { ...act, ...(reason !== undefined && { reason }) });
  }
  const result = await examine(deps, payerId);
  await save(deps.db, payerId, result);
  return result;
}

/** Throws `not_found` and `rate_limited`. If Stripe does not respond, the result says that it is not complete. */
export async function checkPaymentsOf(deps: Deps, asker: Asker): Promise<PaymentCheck> {
  const payerId = await findPayer(deps.db, asker.userId);
  if (payerId === undefined) throw new DomainError("not_found", "There is no such account");
  await ensureLeaseRow(deps.db, payerId);
  const since = await databaseNow(deps.db);
  const until = performance.now() + minuteMs;
  while (performance.now() < until) {
    const checked = await whileAlone(
      deps.db,
      payerId,
      async () => (await resultSince(deps.db, payerId, since)) ?? (await run(deps, payerId, asker)),
    );
    if (checked) return checked.result;
    await delay(lookEveryMs);
    const result = await resultSince(deps.db, payerId, since);
    if (result) return result;
  }
  return { complete: false, items: [] };
}
