import { transferRoutes as contract } from "../../contract/billing/transfers.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { adminScope, clerkOf } from "../team/service.ts";
import { reclaimTransfer } from "./transfer-claims.ts";
import { offerTransfer, orderByTransfer, readOffer } from "./transfer-offers.ts";
import { listReturns, returnTransfer } from "./transfer-returns.ts";
import { receiveTransfer, reverseTransfer } from "./transfers.ts";

/** For the signed-in scope. */
export function transferRoutes(deps: Deps): Routes {
  const dangerous: Routes = async (app) => {
    app.post("/api/admin/transfers/offer", { schema: contract["POST /api/admin/transfers/offer"] }, async (request) =>
      offerTransfer(deps, clerkOf(request), request.body),
    );
    app.post("/api/admin/transfers", { schema: contract["POST /api/admin/transfers"] }, async (request, reply) => {
      await receiveTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/transfers/reverse", { schema: contract["POST /api/admin/transfers/reverse"] }, async (request, reply) => {
      await reverseTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/transfers/returned", { schema: contract["POST /api/admin/transfers/returned"] }, async (request, reply) => {
      await returnTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/transfers/reclaimed", { schema: contract["POST /api/admin/transfers/reclaimed"] }, async (request, reply) => {
      await reclaimTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
  };
  const admin: Routes = async (app) => {
    app.get("/api/admin/transfers/returns", { schema: contract["GET /api/admin/transfers/returns"] }, async () => ({
      returns: await listReturns(deps.db),
    }));
    await app.register(steppedUpScope([dangerous]));
  };
  return async (app) => {
    app.get("/api/billing/transfer-offer", { schema: contract["GET /api/billing/transfer-offer"] }, async (request) => ({
      offer: await readOffer(deps, viewerOf(request).userId),
    }));
    app.post("/api/billing/transfer-offer/order", { schema: contract["POST /api/billing/transfer-offer/order"] }, async (request) =>
      orderByTransfer(deps, clerkOf(request), request.body.consent),
    );
    await app.register(adminScope(deps, [admin]));
  };
}
