import type { ApiCall, ApiRoute } from "./api.ts";
import { equalityFilters, listRoute, pageOf, retrieveRoute } from "./api.ts";
import { invalidRequest } from "./errors.ts";
import { saveChange } from "./events.ts";
import { payNow, refuseWhileDebited, voidInvoice } from "./invoice-acts.ts";
import { finalizeInvoice, setDelinquent, subscriptionOf } from "./invoice-collect.ts";
import type { Parameters } from "./parameters.ts";
import { defaultCard, usableCard } from "./payment-methods.ts";
import type { Filter } from "./store.ts";
import type { Invoice } from "./wire.ts";

function pay({ context, id, parameters }: ApiCall): Invoice {
  const invoice = context.store.get("invoice", id, "invoice");
  const requested = parameters.text("payment_method");
  const outOfBand = parameters.boolean("paid_out_of_band") ?? false;
  parameters.only("forgive", "false");
  parameters.boolean("off_session");
  if (requested) return payNow(context, invoice, usableCard(context, requested, String(invoice.customer), "payment_method"), outOfBand);
  const subscription = subscriptionOf(context, invoice);
  const own = typeof subscription?.default_payment_method === "string" ? subscription.default_payment_method : null;
  return payNow(context, invoice, defaultCard(context, String(invoice.customer), own), outOfBand);
}

function finalize({ context, id, parameters }: ApiCall): Invoice {
  const invoice = context.store.get("invoice", id, "invoice");
  const advances = parameters.boolean("auto_advance") ?? invoice.auto_advance ?? false;
  if (invoice.status !== "draft")
    throw invalidRequest(
      "This invoice is already finalized, you can't re-finalize a non-draft invoice.",
      undefined,
      "invoice_not_editable",
    );
  const open = finalizeInvoice(context, { ...invoice, auto_advance: advances });
  // Stripe collects a manually finalised invoice an hour later.
  if (open.status === "open" && advances && open.collection_method === "charge_automatically")
    context.store.plan(id, "retry_payment", context.now() + 3600);
  return open;
}

function markUncollectible({ context, id }: ApiCall): Invoice {
  const invoice = context.store.get("invoice", id, "invoice");
  if (invoice.status !== "open")
    throw invalidRequest("You can only mark an open invoice uncollectible.", undefined, "invoice_not_editable");
  refuseWhileDebited(context, invoice);
  context.store.unplan(id);
  setDelinquent(context, invoice, false);
  return saveChange(context, "invoice", "invoice.marked_uncollectible", {
    ...invoice,
    auto_advance: false,
    next_payment_attempt: null,
    status: "uncollectible",
    status_transitions: { ...invoice.status_transitions, marked_uncollectible_at: context.now() },
  });
}

function update({ context, id, parameters }: ApiCall): Invoice {
  const invoice = context.store.get("invoice", id, "invoice");
  const description = parameters.text("description");
  const autoAdvance = parameters.boolean("auto_advance") ?? invoice.auto_advance ?? false;
  if (!autoAdvance) context.store.unplan(id);
  return saveChange(context, "invoice", "invoice.updated", {
    ...invoice,
    auto_advance: autoAdvance,
    description: description === undefined ? invoice.description : description,
    metadata: parameters.metadata("metadata", invoice.metadata ?? {}),
  });
}

function paymentFilters(parameters: Parameters): Filter[] {
  const payment = parameters.object("payment");
  const intent = payment?.text("payment_intent");
  payment?.oneOf("type", ["payment_intent"]);
  parameters.oneOf("status", ["canceled", "open", "paid"]);
  const filters = equalityFilters(parameters, { invoice: "invoice", status: "status" });
  return intent ? [...filters, { path: "payment.payment_intent", operator: "=", value: intent }] : filters;
}

export const invoiceRoutes: ApiRoute[] = [
  listRoute("invoice", "/v1/invoices", (parameters) => {
    parameters.oneOf("status", ["draft", "open", "paid", "uncollectible", "void"]);
    parameters.oneOf("collection_method", ["charge_automatically", "send_invoice"]);
    return equalityFilters(parameters, {
      customer: "customer",
      status: "status",
      subscription: "parent.subscription_details.subscription",
      collection_method: "collection_method",
    });
  }),
  retrieveRoute("invoice", "/v1/invoices"),
  { method: "POST", url: "/v1/invoices/:id", handle: update },
  { method: "POST", url: "/v1/invoices/:id/pay", handle: pay },
  { method: "POST", url: "/v1/invoices/:id/finalize", handle: finalize },
  { method: "POST", url: "/v1/invoices/:id/mark_uncollectible", handle: markUncollectible },
  {
    method: "POST",
    url: "/v1/invoices/:id/void",
    handle: ({ context, id }) => voidInvoice(context, context.store.get("invoice", id, "invoice")),
  },
  {
    method: "GET",
    url: "/v1/invoices/:id/lines",
    handle: ({ context, id, parameters }) =>
      pageOf(context.store.get("invoice", id, "invoice").lines.data, `/v1/invoices/${id}/lines`, parameters),
  },
  listRoute("invoice_payment", "/v1/invoice_payments", paymentFilters),
  retrieveRoute("invoice_payment", "/v1/invoice_payments"),
];
