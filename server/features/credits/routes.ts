import type { GrantKind } from "#domain/credits.ts";
import { billingRoutes } from "../../contract/billing.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { readLedger, readWallet } from "./service.ts";

const defaultPage = 25;

/** `spendable` returns the kinds of grants that the person may spend now. It is injected, because billing decides that. */
export function creditRoutes(deps: Deps, spendable: (userId: string) => Promise<GrantKind[]>): Routes {
  return async (app) => {
    app.get("/api/credits/wallet", { schema: billingRoutes["GET /api/credits/wallet"] }, async (request) => {
      const { userId } = viewerOf(request);
      return readWallet(deps.db, userId, await spendable(userId), deps.clock.now());
    });
    app.get("/api/credits/ledger", { schema: billingRoutes["GET /api/credits/ledger"] }, async (request) => {
      const { cursor, limit } = request.query;
      return readLedger(deps.db, viewerOf(request).userId, cursor, limit ?? defaultPage);
    });
  };
}
