/** The invoices from before our table existed (decision 44): read when their person looks at the list, or by the next reconciliation. */
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { announceToMembers } from "../../http/live-events.ts";
import { enqueue } from "../../queue/outbox.ts";
import { isUnread } from "./invoice-queries.ts";
import { mirrorEarlierInvoices } from "./mirror-invoice.ts";
import { selectAccountOf } from "./queries.ts";

/** Whether the person's invoices of that time are still to be read. If so a job reads them now. */
export async function askForEarlierInvoices(executor: Executor, userId: string): Promise<boolean> {
  if (!(await isUnread(executor, userId))) return false;
  await enqueue(executor, "read-invoices", { userId }, userId);
  return true;
}

/** Reads them, and tells the person's open pages. May run any number of times. */
export async function readEarlierInvoices(deps: Pick<Deps, "db" | "payments" | "clock" | "log" | "live">, userId: string): Promise<void> {
  if (!(await isUnread(deps.db, userId))) return;
  const account = await selectAccountOf(deps.db, userId);
  if (!account?.stripe_customer_id) return;
  const { payer_id: payerId, stripe_customer_id: customerId } = account;
  await mirrorEarlierInvoices(deps, { payerId, customerId });
  await announceToMembers(deps, payerId, "user_subscriptions");
}
