/** The money-back guarantee (specification §2, decision 51): a person takes their first payment back by themselves. */
import { DomainError } from "#domain/errors.ts";
import { moneyBackAllowance, moneyBackRefusal, moneyBackUntil } from "#domain/refunds.ts";
import type { MoneyBack } from "../../contract/billing/money-back.ts";
import { recordAct } from "../../db/audit.ts";
import type { Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { askBack } from "./ask-back.ts";
import type { FirstPayment } from "./money-back-queries.ts";
import { selectFirstPayment } from "./money-back-queries.ts";
import { lockSubject, selectAccountOf } from "./queries.ts";

function stateOf(payment: FirstPayment, now: Date): MoneyBack["state"] {
  if (payment.disputed) return "disputed";
  if (payment.returnedCents >= (payment.askedCents ?? payment.paidCents)) return "returned";
  if (payment.askedCents !== null) return "asked";
  return moneyBackRefusal(payment.paidAt, payment, now) ?? "open";
}

function present(payment: FirstPayment, now: Date): MoneyBack {
  return {
    state: stateOf(payment, now),
    amountCents: payment.askedCents ?? Math.max(payment.paidCents - payment.returnedCents, 0),
    paidAt: payment.paidAt.toISOString(),
    until: moneyBackUntil(payment.paidAt).toISOString(),
    spentCredits: payment.spent,
    allowedCredits: moneyBackAllowance(payment.granted),
    byTransfer: payment.transferReference !== null,
  };
}

/** Null: the account never paid for a plan. */
export async function readMoneyBack({ db, clock }: Pick<Deps, "db" | "clock">, userId: string): Promise<MoneyBack | null> {
  const account = await selectAccountOf(db, userId);
  const payment = account && (await selectFirstPayment(db, account.payer_id));
  return payment ? present(payment, clock.now()) : null;
}

interface Asker {
  userId: string;
  network: string;
}

function refuse(state: MoneyBack["state"]): void {
  if (state === "too_late") throw new DomainError("money_back_too_late", "The days of the money-back guarantee are over");
  if (state === "used") throw new DomainError("money_back_used", "Too many of the credits are spent for the money-back guarantee");
  if (state === "disputed" || state === "returned") throw new DomainError("nothing_to_refund", "Nothing is left to pay back");
}

async function write(trx: Trx, { userId, network }: Asker, payerId: string, now: Date): Promise<MoneyBack> {
  await lockSubject(trx, `billing:${payerId}`);
  const payment = await selectFirstPayment(trx, payerId);
  if (!payment) throw new DomainError("nothing_to_refund", "Nothing was paid yet");
  const { state, amountCents } = present(payment, now);
  refuse(state);
  if (state === "asked") return present(payment, now);
  await askBack(trx, payment, { payerId, kind: "guarantee", amountCents }, now);
  await recordAct(trx, { actor: userId, subject: userId, action: "money_back.asked", network, details: { amountCents } });
  return present({ ...payment, askedCents: amountCents }, now);
}

/**
 * Asks for the first payment back. Asking again gives the same answer. Throws `money_back_too_late`, `money_back_used` and
 * `nothing_to_refund`.
 */
export async function askMoneyBack(deps: Pick<Deps, "db" | "clock" | "live" | "log">, asker: Asker): Promise<MoneyBack> {
  const account = await selectAccountOf(deps.db, asker.userId);
  if (!account) throw new DomainError("nothing_to_refund", "Nothing was paid yet");
  const asked = await inTransaction(deps.db, (trx) => write(trx, asker, account.payer_id, deps.clock.now()));
  await announceToMembers(deps, account.payer_id, "user_subscriptions");
  return asked;
}
