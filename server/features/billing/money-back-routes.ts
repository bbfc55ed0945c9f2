import { moneyBackRoutes as contract } from "../../contract/billing/money-back.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { askMoneyBack, readMoneyBack } from "./money-back.ts";

/** For the signed-in scope. */
export function moneyBackRoutes(deps: Deps): Routes {
  const dangerous: Routes = async (app) => {
    app.post("/api/billing/money-back", { schema: contract["POST /api/billing/money-back"] }, async (request, reply) => {
      const asker = { userId: viewerOf(request).userId, network: clientNetwork(request.ip) };
      return reply.code(202).send(await askMoneyBack(deps, asker));
    });
  };
  return async (app) => {
    app.get("/api/billing/money-back", { schema: contract["GET /api/billing/money-back"] }, async (request) => ({
      moneyBack: await readMoneyBack(deps, viewerOf(request).userId),
    }));
    await steppedUpScope([dangerous])(app);
  };
}
