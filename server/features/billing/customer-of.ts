/** Finds whose an object at Stripe is. Asks Stripe, because we keep the ids of only a few payments, refunds and disputes. */
import type { Deps } from "../../deps.ts";
import type { Payments } from "../../providers/stripe.ts";
import { idOf, orMissing, orUnavailable } from "../../providers/stripe.ts";

type Reference = string | { id: string } | null | undefined;

async function ofCharge(payments: Payments, charge: Reference): Promise<Reference> {
  const id = idOf(charge);
  return id === undefined ? undefined : (await orMissing(payments.charges.retrieve(id)))?.customer;
}

/** By what an object's id begins with. */
const customers = new Map<string, (payments: Payments, id: string) => Promise<Reference>>(
  Object.entries({
    pi: async (payments, id) => (await orMissing(payments.paymentIntents.retrieve(id)))?.customer,
    ch: ofCharge,
    py: ofCharge,
    re: async (payments, id) => ofCharge(payments, (await orMissing(payments.refunds.retrieve(id)))?.charge),
    pyr: async (payments, id) => ofCharge(payments, (await orMissing(payments.refunds.retrieve(id)))?.charge),
    dp: async (payments, id) => ofCharge(payments, (await orMissing(payments.disputes.retrieve(id)))?.charge),
    du: async (payments, id) => ofCharge(payments, (await orMissing(payments.disputes.retrieve(id)))?.charge),
    cs: async (payments, id) => (await orMissing(payments.checkout.sessions.retrieve(id)))?.customer,
    in: async (payments, id) => (await orMissing(payments.invoices.retrieve(id)))?.customer,
    cn: async (payments, id) => (await orMissing(payments.creditNotes.retrieve(id)))?.customer,
    sub: async (payments, id) => (await orMissing(payments.subscriptions.retrieve(id)))?.customer,
  }),
);

/** Stripe's ids are longer. A shorter text may be a name that somebody is still typing. */
const shortestId = 12;

/** By what the id begins with; undefined for any other text. */
export function stripePrefix(text: string): string | undefined {
  return text.length < shortestId ? undefined : /^([a-z]+)_\w+$/.exec(text)?.[1];
}

/** Undefined for any other text, and if Stripe has no such object or it is nobody's. Throws `payment_provider_unavailable`. */
export async function customerOf({ payments, log }: Pick<Deps, "payments" | "log">, id: string): Promise<string | undefined> {
  const ask = customers.get(stripePrefix(id) ?? "");
  return ask && idOf(await orUnavailable(log, () => ask(payments, id)));
}
