/** Parts of Stripe's API that the sandbox does not play. The refusal names the part, so that nobody looks for a mistake of their own. */
import type { ApiRoute } from "./api.ts";
import { invalidParameter } from "./errors.ts";

const absent = (what: string) => invalidParameter(`The sandbox does not play ${what}.`);

/** By the beginning of the path. */
const areas: readonly (readonly [path: RegExp, name: string])[] = [
  [/^\/v1\/credit_notes/, "previews, lines and voiding of credit notes"],
  [/^\/v1\/customers\/[^/]+\/(cash_balance|cash_balance_transactions|fund_cash_balance|funding_instructions)/, "cash balances"],
  [/^\/v1\/test_helpers\/customers\/[^/]+\/fund_cash_balance/, "cash balances"],
  [/^\/v1\/customers\/[^/]+\/balance_transactions/, "balances of customers"],
  [/^\/v1\/(customers\/[^/]+\/)?tax_ids/, "tax ids of one's own, or by themselves"],
  [/^\/v1\/tax\/(calculations|transactions|associations|locations)/, "tax calculations and transactions of one's own"],
  [/^\/v1\/tax_(rates|codes)/, "tax rates and tax codes of one's own"],
  [/^\/v1\/invoiceitems/, "invoice items"],
  [/^\/v1\/invoices/, "invoices that are made by hand"],
  [/^\/v1\/subscription_items/, "items of subscriptions by themselves"],
  [/^\/v1\/setup_intents/, "saving a card without paying"],
  [/^\/v1\/promotion_codes/, "promotion codes"],
  [/^\/v1\/payment_links/, "payment links"],
  [
    /^\/v1\/(quotes|sources|tokens|payouts|transfers|topups|accounts|billing|test_helpers|issuing|terminal|radar|files|reporting)\b/,
    "this part of the API",
  ],
];

/** The error for a path without a route; undefined if Stripe has none either, as far as is known here. */
export function unplayed(method: string, path: string) {
  const area = areas.find(([pattern]) => pattern.test(path));
  return area && absent(`${area[1]} (${method} ${path})`);
}

/** Paths that would otherwise be taken for the id of something. */
export const unplayedRoutes: ApiRoute[] = ["create_preview", "search", "upcoming"].flatMap((name) =>
  (["GET", "POST"] as const).map(
    (method): ApiRoute => ({
      method,
      url: `/v1/invoices/${name}`,
      handle: () => {
        throw absent(`${name === "search" ? "searching" : "previews of"} invoices (${method} /v1/invoices/${name})`);
      },
    }),
  ),
);
