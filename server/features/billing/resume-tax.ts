import type { Deps } from "../../deps.ts";
import { isRefused, orMissing } from "../../providers/stripe.ts";
import * as queries from "./queries.ts";

type BillingDeps = Pick<Deps, "db" | "payments" | "log">;

/** Whether Stripe went on without tax for the account's newest invoice, because it didn't know the customer's location. */
async function lacksLocation({ db }: BillingDeps, payerId: string): Promise<boolean> {
  const newest = await db
    .selectFrom("invoices")
    .select("tax_location_missing")
    .where("billing_account_id", "=", payerId)
    .orderBy("issued_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return newest?.tax_location_missing ?? false;
}

/**
 * Has Stripe calculate the tax of a customer's subscriptions again, from the next invoice on, after it stopped because an address was
 * missing. Returns whether it does for one of them. Safe to repeat.
 */
export async function resumeTax(deps: BillingDeps, customerId: string): Promise<boolean> {
  const payerId = await queries.selectPayerOfCustomer(deps.db, customerId);
  if (payerId === undefined || !(await lacksLocation(deps, payerId))) return false;
  // The customer may have been deleted since.
  const listed = await orMissing(deps.payments.subscriptions.list({ customer: customerId, limit: 20 }));
  const stopped = (listed?.data ?? []).filter(({ automatic_tax: tax }) => tax.disabled_reason === "requires_location_inputs");
  let resumed = false;
  for (const { id } of stopped) {
    try {
      await deps.payments.subscriptions.update(id, { automatic_tax: { enabled: true } });
      resumed = true;
    } catch (error) {
      // The address still doesn't say where tax is due.
      if (!isRefused(error)) throw error;
      deps.log.info({ subscription: id }, "the tax of a subscription can't be calculated yet");
    }
  }
  return resumed;
}
