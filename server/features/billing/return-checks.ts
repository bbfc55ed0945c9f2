/** Charges of which money went back, or that are disputed: our books must have it, with the credits it bought. */
import type Stripe from "stripe";
import type { Finding } from "#domain/findings.ts";
import { inTransaction } from "../../db/transaction.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { selectChargeReturn, takeMissedCredits } from "./charge-returns.ts";
import type { BillingDeps, Check } from "./checks.ts";
import { report } from "./checks.ts";
import { lockSubject } from "./queries.ts";
import { syncCharge } from "./sync-charge.ts";

/** So many charges of one customer are read, newest first. */
const chargeLimit = 200;

export async function readCharges({ deps }: Check, customer: string): Promise<Stripe.Charge[]> {
  return deps.payments.charges.list({ customer, limit: 100 }).autoPagingToArray({ limit: chargeLimit });
}

/** For a row that agrees with Stripe: the credits that it asks for may be missing nevertheless. */
async function takeMissed({ db, clock }: BillingDeps, payerId: string, chargeId: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockSubject(trx, `billing:${payerId}`);
    const row = await selectChargeReturn(trx, chargeId);
    if (row) await takeMissedCredits(trx, row, clock.now());
  });
}

/** Reads each returned or disputed charge again, as its events do. A row of ours has changed, or its credits were taken, if its version has. */
export async function checkReturns(check: Check, payerId: string, charges: readonly Stripe.Charge[]): Promise<Finding[]> {
  const { deps, signal } = check;
  const found: Finding[] = [];
  const rowOf = (chargeId: string) => inTransaction(deps.db, (trx) => selectChargeReturn(trx, chargeId));
  for (const { id, amount_refunded: refunded, disputed } of charges) {
    const before = await rowOf(id);
    if (refunded === 0 && !disputed && !before) continue;
    signal?.throwIfAborted();
    await syncCharge(deps, id);
    await takeMissed(deps, payerId, id);
    const after = await rowOf(id);
    if (!after || after.version === before?.version) continue;
    const details = { refundedCents: after.refunded_cents, lostCents: after.lost_cents };
    found.push(await report(check, { kind: "unbooked_return", subject: id, payerId, details, isRepaired: true }));
  }
  if (found.length > 0) await announceToMembers(deps, payerId, "wallets");
  return found;
}
