import { withdrawalRoutes as contract } from "../../contract/billing/withdrawals.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { viewerOf } from "../../http/viewer.ts";
import { readWithdrawals, withdraw } from "./withdrawals.ts";

/** For the signed-in scope. No step-up: the law wants withdrawing to be easy, and two steps are enough (decision 53). */
export function withdrawalRoutes(deps: Deps): Routes {
  return async (app) => {
    app.get("/api/billing/withdrawals", { schema: contract["GET /api/billing/withdrawals"] }, async (request) =>
      readWithdrawals(deps, viewerOf(request).userId),
    );
    app.post("/api/billing/withdrawals", { schema: contract["POST /api/billing/withdrawals"] }, async (request, reply) => {
      const asker = { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
      return reply.code(202).send(await withdraw(deps, asker, request.body.contractId));
    });
  };
}
