import { Readable } from "node:stream";
import type { GrantKind } from "#domain/credits.ts";
import { ledgerRoutes } from "../../contract/credits/ledger.ts";
import { limitRoutes } from "../../contract/credits/limits.ts";
import { usageRoutes } from "../../contract/credits/usage.ts";
import { walletRoutes } from "../../contract/credits/wallet.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { announce } from "../../http/live-events.ts";
import { viewerOf } from "../../http/viewer.ts";
import { modelName } from "../catalogue/service.ts";
import { dismissAlert } from "./alerts.ts";
import { explainBalance } from "./explanation.ts";
import { readLedger } from "./history.ts";
import { ledgerCsv } from "./history-csv.ts";
import { readLimits, setLimits } from "./limits.ts";
import { readWallet } from "./service.ts";
import { readUsage } from "./usage.ts";

const defaultPage = 25;

/** `spendable` returns the kinds of grants that the person may spend now. It is injected, because billing decides that. */
export function creditRoutes(deps: Deps, spendable: (userId: string) => Promise<GrantKind[]>): Routes {
  return async (app) => {
    app.get("/api/credits/wallet", { schema: walletRoutes["GET /api/credits/wallet"] }, async (request) => {
      const { userId } = viewerOf(request);
      return readWallet(deps.db, userId, await spendable(userId), deps.clock.now());
    });
    app.get("/api/credits/ledger", { schema: ledgerRoutes["GET /api/credits/ledger"] }, async (request) => {
      const { cursor, limit, ...filter } = request.query;
      return readLedger(deps.db, viewerOf(request).userId, cursor, limit ?? defaultPage, filter);
    });
    app.get("/api/credits/explanation", { schema: ledgerRoutes["GET /api/credits/explanation"] }, async (request) =>
      explainBalance(deps.db, viewerOf(request).userId),
    );
    app.get("/api/credits/usage", { schema: usageRoutes["GET /api/credits/usage"] }, async (request) =>
      readUsage(deps.db, viewerOf(request).userId, request.query.range, deps.clock.now()),
    );
    app.get("/api/credits/limits", { schema: limitRoutes["GET /api/credits/limits"] }, async (request) =>
      readLimits(deps.db, viewerOf(request).userId, deps.clock.now()),
    );
    app.put("/api/credits/limits", { schema: limitRoutes["PUT /api/credits/limits"] }, async (request) =>
      setLimits(deps.db, viewerOf(request).userId, request.body, deps.clock.now()),
    );
    app.post("/api/credits/alert/dismiss", { schema: limitRoutes["POST /api/credits/alert/dismiss"] }, async (request, reply) => {
      const { userId } = viewerOf(request);
      await dismissAlert(deps.db, userId, deps.clock.now());
      await announce(deps, userId, "user_subscriptions");
      return reply.code(204).send(null);
    });
    app.get("/api/credits/ledger.csv", { schema: ledgerRoutes["GET /api/credits/ledger.csv"] }, async (request, reply) => {
      const rows = Readable.from(ledgerCsv(deps.db, viewerOf(request).userId, request.query, (id) => modelName(deps, id)));
      reply.raw.once("close", () => rows.destroy());
      return reply
        .header("content-type", "text/csv; charset=utf-8")
        .header("content-disposition", 'attachment; filename="tessera-history.csv"')
        .send(rows);
    });
  };
}
