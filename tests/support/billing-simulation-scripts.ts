/**
 * What some people of the billing simulation do on fixed days, besides those who act at random, so that each kind of event happens at least
 * once in every run, whatever its seed. They act when nothing is pending and while Stripe's API works, so that each act succeeds. Otherwise
 * they are treated like everybody: their events may be lost or late.
 */

import {
  buyPack,
  cancel,
  changePlanTo,
  checkPayments,
  giveCard,
  payOpenWith,
  resume,
  startTrial,
  subscribeTo,
} from "./billing-simulation-acts.ts";
import {
  adjust,
  deleteAccount,
  disputeUntil,
  moneyBack,
  orderTransfer,
  payTransfer,
  refundAsTeam,
  refundNewest,
  withdraw,
} from "./billing-simulation-returns.ts";
import type { Act } from "./billing-simulation-stage.ts";

/** By day. Everything comes to rest every `restDays` days, so these are multiples of it. */
export type Script = Readonly<Record<number, Act>>;

/** With the month from 29 January: renewals on days 30 and 59. */
export const scripts: readonly Script[] = [
  // A card that asks, a pack, another plan from the next period on, a partial refund, a renewal that is paid late, a cancellation, an end.
  {
    0: subscribeTo("starter_month", "authentication"),
    5: buyPack,
    10: changePlanTo("basic_month"),
    20: refundAsTeam,
    25: giveCard("pm_card_chargeCustomerFail"),
    35: giveCard("pm_card_visa"),
    40: checkPayments,
    45: cancel,
    50: resume,
    55: cancel,
    // The refund of this payment comes back from the bank.
    60: subscribeTo("professional_month", "failing_refund"),
    65: refundNewest,
  },
  // A year, some credits from the team, and a payment that is disputed until the bank has decided for the cardholder.
  { 0: subscribeTo("basic_year", "success"), 5: adjust, 60: disputeUntil("lost"), 65: disputeUntil("lost") },
  // A trial, a renewal that is never paid, another plan, which is withdrawn from.
  {
    0: startTrial,
    5: subscribeTo("starter_month", "success"),
    10: giveCard("pm_card_chargeCustomerFail"),
    45: subscribeTo("enterprise_month", "pending_refund"),
    50: withdraw,
  },
  // A plan by transfer whose renewal is never paid.
  { 0: orderTransfer, 5: payTransfer },
  // A first debit that fails, and another one on the last day of grace: its money comes when the plan has ended.
  { 0: subscribeTo("starter_month", "bank_debit_fails"), 6: payOpenWith("bank_debit") },
  // The first payment back, and the account deleted.
  { 0: subscribeTo("starter_month", "success"), 5: moneyBack, 10: deleteAccount },
];
