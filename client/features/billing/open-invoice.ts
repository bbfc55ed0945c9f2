import { api } from "#client/lib/api.ts";
import type { InvoiceDocument } from "#contract/billing/invoices.ts";

/** Opens the payment provider's page or file of an invoice; its links expire, so each is asked for. Throws ApiProblem, NetworkProblem. */
export async function openInvoice(id: string, wanted: InvoiceDocument | { creditNote: string }): Promise<void> {
  const body = typeof wanted === "string" ? { document: wanted } : wanted;
  const { url } = await api("POST /api/billing/invoices/:id/link", { params: { id }, body });
  window.location.assign(url);
}
