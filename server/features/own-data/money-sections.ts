/** Sections of an export about money that went back, or is still on its way (sections.ts). */
import { sql } from "kysely";
import type { Section } from "./section.ts";
import { account } from "./section.ts";

export const moneySections: readonly Section[] = [
  {
    name: "checkouts",
    describes: "The payment pages that were opened for you in the last days, and whether you paid there.",
    rows: (userId) => sql`select id as key, jsonb_build_object('price', price_id, 'status', status, 'stripeSession', stripe_session_id,
      'openedAt', created_at, 'expiresAt', expires_at) as item from checkouts where user_id = ${userId}`,
  },
  {
    name: "credits-to-come",
    describes: "The credits of each month of a plan that you paid for a year, and when they came or will come.",
    rows: (userId) => sql`select md5(key)::uuid as key, jsonb_build_object('credits', credits, 'dueAt', due_at, 'expiresAt', expires_at,
      'givenAt', posted_at, 'cancelledAt', cancelled_at, 'stripeInvoice', invoice_id) as item
      from scheduled_grants where billing_account_id = ${account(userId)}`,
  },
  {
    name: "transfers",
    describes: "Your bank transfers, as our team recorded them.",
    rows: (userId) => sql`select md5(reference)::uuid as key, jsonb_build_object('reference', reference, 'stripeInvoice', invoice_id,
      'amountCents', amount_cents, 'currency', currency, 'note', reason, 'recordedAt', recorded_at, 'takenBackAt', reversed_at,
      'takenBackNote', reversal_reason, 'agreedElsewhere', agreed_elsewhere) as item
      from bank_transfers where billing_account_id = ${account(userId)}`,
  },
  {
    name: "money-backs",
    describes: "Payments that you asked back, by the guarantee or by withdrawing from a contract, and when the money went out.",
    rows: (userId) => sql`select id as key, jsonb_build_object('kind', kind, 'stripeInvoice', invoice_id, 'amountCents', amount_cents,
      'askedAt', asked_at, 'doneAt', done_at, 'transfer', transfer_reference, 'returnTransfer', returned_reference, 'note', return_reason,
      'paidTwiceSince', claimed_at, 'settledAt', reclaimed_at, 'settledBy', reclaimed_reference) as item
      from money_backs where billing_account_id = ${account(userId)}`,
  },
  {
    name: "returns",
    describes: "Payments by card of which money went back to you: refunds, and disputes at your bank.",
    rows: (userId) => sql`select md5(charge_id)::uuid as key, jsonb_build_object('stripeCharge', charge_id, 'paidCents', paid_cents,
      'refundedCents', refunded_cents, 'lostCents', lost_cents, 'disputed', disputed, 'recordedAt', recorded_at) as item
      from charge_returns where billing_account_id = ${account(userId)}`,
  },
];
