import type { ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, retrieveRoute } from "./api.ts";
import type { Context } from "./context.ts";
import { daySeconds } from "./context.ts";
import { newId } from "./ids.ts";
import type { BalanceTransaction } from "./wire.ts";

interface Posting {
  type: "charge" | "payment" | "refund" | "payment_refund" | "refund_failure" | "adjustment";
  category: string;
  /** Integer cents; negative for outgoing money. */
  amountCents: number;
  feeCents: number;
  currency: string;
  source: string;
  description: string | null;
}

/** Posts a balance transaction. Every charge, refund and dispute posts one, and their sum is the balance. */
export function postBalance(context: Context, posting: Posting): BalanceTransaction {
  return context.store.insert("balance_transaction", {
    id: newId("txn"),
    object: "balance_transaction",
    amount: posting.amountCents,
    available_on: context.now() + 2 * daySeconds,
    balance_type: "payments",
    created: context.now(),
    currency: posting.currency,
    description: posting.description,
    exchange_rate: null,
    fee: posting.feeCents,
    fee_details:
      posting.feeCents === 0
        ? []
        : [
            {
              amount: posting.feeCents,
              application: null,
              currency: posting.currency,
              description: "Stripe processing fees",
              type: "stripe_fee",
            },
          ],
    net: posting.amountCents - posting.feeCents,
    reporting_category: posting.category,
    source: posting.source,
    status: "pending",
    type: posting.type,
  });
}

/** Makes pending amounts available whose day has come. Called before each answer, because Stripe sends no event for it. */
export function releaseBalance(context: Context): void {
  context.store
    .statement(
      `update objects set data = json_set(data, '$.status', 'available')
        where kind = 'balance_transaction' and json_extract(data, '$.status') = 'pending' and json_extract(data, '$.available_on') <= ?`,
    )
    .run(context.now());
}

export const balanceRoutes: ApiRoute[] = [
  listRoute("balance_transaction", "/v1/balance_transactions", (parameters) =>
    equalityFilters(parameters, { source: "source", type: "type", currency: "currency" }),
  ),
  retrieveRoute("balance_transaction", "/v1/balance_transactions"),
];
