import { invoiceRoutes as contract } from "../../contract/billing/invoices.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { linkToInvoice, readInvoices } from "./invoices.ts";
import { payAddress } from "./pay-link.ts";

/** For the public scope. */
export function payRoutes(deps: Deps): Routes {
  return async (app) => {
    app.get("/api/billing/pay", { schema: contract["GET /api/billing/pay"] }, async (request, reply) => {
      const address = await payAddress(deps, request.query.invoice);
      return reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer").redirect(address, 303);
    });
  };
}

/** For the signed-in scope. */
export function invoiceRoutes(deps: Deps): Routes {
  return async (app) => {
    app.get("/api/billing/invoices", { schema: contract["GET /api/billing/invoices"] }, async (request) =>
      readInvoices(deps.db, viewerOf(request).userId, request.query),
    );
    app.post("/api/billing/invoices/:id/link", { schema: contract["POST /api/billing/invoices/:id/link"] }, async (request) =>
      linkToInvoice(deps, viewerOf(request).userId, { id: request.params.id, wanted: request.body }),
    );
  };
}
