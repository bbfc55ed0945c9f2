import { transferRoutes as contract } from "../../contract/transfers.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { adminScope, steppedUpScope, viewerOf } from "../../http/viewer.ts";
import type { Clerk } from "./transfers.ts";
import { invoiceTransfer, receiveTransfer, reverseTransfer } from "./transfers.ts";

function clerkOf(request: Parameters<typeof viewerOf>[0]): Clerk {
  return { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
}

/** For the signed-in scope. */
export function transferRoutes(deps: Deps): Routes {
  const dangerous: Routes = async (app) => {
    app.post("/api/admin/transfers/invoice", { schema: contract["POST /api/admin/transfers/invoice"] }, async (request) =>
      invoiceTransfer(deps, clerkOf(request), request.body),
    );
    app.post("/api/admin/transfers", { schema: contract["POST /api/admin/transfers"] }, async (request, reply) => {
      await receiveTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/transfers/reverse", { schema: contract["POST /api/admin/transfers/reverse"] }, async (request, reply) => {
      await reverseTransfer(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
  };
  return adminScope([steppedUpScope([dangerous])]);
}
