/**
 * The right of withdrawal that the European law gives consumers (Directive 2011/83/EU, article 11a; decision 53): for each contract, within
 * its period, in two steps, acknowledged by a mail with the statement and the time at which it arrived. Paying back is the job of pay-back.ts.
 */
import { DomainError } from "#domain/errors.ts";
import { packOf, planList } from "#domain/plans.ts";
import { withdrawalCents, withdrawalUntil } from "#domain/refunds.ts";
import type { Contract, Withdrawals } from "../../contract/billing/withdrawals.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { askBack } from "./ask-back.ts";
import { mailPayer } from "./mails.ts";
import { lockSubject, selectAccountOf } from "./queries.ts";
import type { ContractRow } from "./withdrawal-queries.ts";
import { selectContracts } from "./withdrawal-queries.ts";

type Account = NonNullable<Awaited<ReturnType<typeof selectAccountOf>>>;

/** Whether what was asked back has been sent. */
function isBack({ returnedCents, askedCents, returnedReference }: ContractRow): boolean {
  return returnedReference !== null || returnedCents >= (askedCents ?? 0);
}

function stateOf(row: ContractRow, now: Date): Contract["state"] {
  if (row.askedBy === "withdrawal") return "withdrawn";
  if (row.askedBy === "guarantee" || row.askedBy === "late") return isBack(row) ? "returned" : "asked";
  if (row.disputed) return "disputed";
  if (now > withdrawalUntil(row.concludedAt)) return "too_late";
  if (withdrawalCents(row) > 0) return "open";
  return row.returnedCents > 0 ? "returned" : "used";
}

function subjectOf({ planKey, interval, packKey }: ContractRow): Contract["subject"] | undefined {
  const plan = planList.find(({ key }) => key === planKey);
  if (plan && interval) return { kind: "plan", plan: plan.key, interval };
  const pack = packOf(packKey ?? "");
  return pack && { kind: "pack", credits: pack.credits };
}

/** Undefined if it is something that is not sold here. */
function present(row: ContractRow, now: Date): Contract | undefined {
  const subject = subjectOf(row);
  return (
    subject && {
      id: row.invoiceId,
      subject,
      state: stateOf(row, now),
      concludedAt: row.concludedAt.toISOString(),
      until: withdrawalUntil(row.concludedAt).toISOString(),
      amountCents: row.askedCents ?? withdrawalCents(row),
      grantedCredits: row.granted,
      unspentCredits: row.granted - row.used,
      byTransfer: row.transferReference !== null,
      withdrawnAt: row.askedAt?.toISOString() ?? null,
    }
  );
}

async function accountOf({ db }: Pick<Deps, "db">, userId: string): Promise<Account> {
  const account = await selectAccountOf(db, userId);
  if (!account) throw new DomainError("not_found", "There is nothing here");
  return account;
}

/** The contracts whose period of withdrawal is not over. */
export async function readWithdrawals(deps: Pick<Deps, "db" | "clock">, userId: string): Promise<Withdrawals> {
  const { payer_id: payerId, name, email } = await accountOf(deps, userId);
  const now = deps.clock.now();
  const rows = await selectContracts(deps.db, payerId);
  const contracts = rows.flatMap((row) => (now > withdrawalUntil(row.concludedAt) ? [] : (present(row, now) ?? [])));
  return { name, email, contracts };
}

function refuse(state: Contract["state"]): void {
  if (state === "too_late") throw new DomainError("withdrawal_too_late", "The period of withdrawal is over");
  if (state === "used") throw new DomainError("withdrawal_used", "All credits of the contract are spent");
  if (state === "disputed") throw new DomainError("payment_disputed", "The bank decides about the payment");
  if (state === "asked" || state === "returned") throw new DomainError("nothing_to_refund", "Nothing is left to pay back");
}

async function acknowledge(trx: Trx, { payer_id: payerId, name, email }: Account, contract: Contract, now: Date): Promise<void> {
  const { id, subject, amountCents, concludedAt, byTransfer } = contract;
  const about =
    subject.kind === "plan"
      ? { plan: subject.plan, interval: subject.interval, ...(byTransfer ? { variant: "transfer" as const } : {}) }
      : { variant: "pack" as const, credits: subject.credits };
  const parameters = { ...about, name: name ?? email, email, concludedAt, amountCents, receivedAt: now.toISOString() };
  await mailPayer(trx, payerId, { key: `withdrawal-received:${id}`, template: "withdrawal-received", parameters }, now);
}

interface Asker {
  userId: string;
  network: string;
}

async function write(trx: Trx, { userId, network }: Asker, account: Account, contractId: string, now: Date): Promise<Contract> {
  const { payer_id: payerId } = account;
  await lockSubject(trx, `billing:${payerId}`);
  const row = (await selectContracts(trx, payerId)).find(({ invoiceId }) => invoiceId === contractId);
  const contract = row && present(row, now);
  if (!contract) throw new DomainError("not_found", "There is nothing here");
  refuse(contract.state);
  if (contract.state === "withdrawn") return contract;
  const { amountCents } = contract;
  await askBack(trx, row, { payerId, kind: "withdrawal", amountCents }, now);
  await recordAct(trx, { actor: userId, subject: userId, action: "contract.withdrawn", network, details: { amountCents } });
  await acknowledge(trx, account, contract, now);
  return { ...contract, state: "withdrawn", withdrawnAt: now.toISOString() };
}

/**
 * Withdraws from a contract. Withdrawing again gives the same answer. Throws `not_found`, `withdrawal_too_late`, `withdrawal_used`,
 * `payment_disputed` and `nothing_to_refund`.
 */
export async function withdraw(deps: Pick<Deps, "db" | "clock" | "live" | "log">, asker: Asker, contractId: string): Promise<Contract> {
  const account = await accountOf(deps, asker.userId);
  const withdrawn = await inTransaction(deps.db, (trx) => write(trx, asker, account, contractId, deps.clock.now()));
  await announceToMembers(deps, account.payer_id, "user_subscriptions");
  return withdrawn;
}
