import type { Deps } from "../../deps.ts";
import { readPayToken } from "../notifications/pay-links.ts";
import { selectInvoice } from "./invoice-queries.ts";

/** Where people find all their invoices; it asks who they are. */
const ownInvoices = "/profile/billing";

/**
 * Where the link of a mail about an unpaid invoice leads: to Stripe's page of the invoice while it is unpaid, otherwise to the person's own
 * invoices, also if the token is not ours or Stripe does not answer. Changes nothing, since programs that look through mails open every link.
 */
export async function payAddress(deps: Pick<Deps, "db" | "payments" | "config" | "log">, token: string): Promise<string> {
  const invoiceId = readPayToken(deps.config, token);
  const row = invoiceId === undefined ? undefined : await selectInvoice(deps.db, invoiceId);
  if (row?.status !== "open") return ownInvoices;
  try {
    const { status, hosted_invoice_url: page } = await deps.payments.invoices.retrieve(row.id);
    return status === "open" && page ? page : ownInvoices;
  } catch (error) {
    deps.log.warn({ err: error, invoice: row.id }, "the page of an unpaid invoice could not be read");
    return ownInvoices;
  }
}
