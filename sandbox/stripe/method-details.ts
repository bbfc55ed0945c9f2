import type { Charge, PaymentMethod } from "./wire.ts";

type Details = Charge["payment_method_details"];

/** The bank account as the charge remembers it. The mandate that Stripe keeps with it is not played. */
function bankDetails(account: NonNullable<PaymentMethod["us_bank_account"]>): Details {
  const { account_holder_type, account_type, bank_name, fingerprint, last4, routing_number } = account;
  return {
    type: "us_bank_account",
    us_bank_account: { account_holder_type, account_type, bank_name, fingerprint, last4, payment_reference: null, routing_number },
  };
}

/** The card or the bank account as the charge remembers it. */
export function methodDetails(method: PaymentMethod): Details {
  const card = method.card;
  if (method.us_bank_account) return bankDetails(method.us_bank_account);
  if (!card) return null;
  return {
    type: "card",
    card: {
      amount_authorized: null,
      authorization_code: null,
      brand: card.brand,
      checks: card.checks,
      country: card.country,
      electronic_commerce_indicator: null,
      exp_month: card.exp_month,
      exp_year: card.exp_year,
      fingerprint: card.fingerprint ?? null,
      funding: card.funding,
      installments: null,
      last4: card.last4,
      mandate: null,
      network: card.brand,
      network_transaction_id: null,
      regulated_status: card.regulated_status,
      three_d_secure: null,
      transaction_link_id: null,
      wallet: null,
    },
  };
}
