import { orderRoutes as contract } from "../../contract/billing/orders.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { createCheckout } from "./checkout.ts";
import { previewOrder } from "./orders.ts";
import { createPackCheckout } from "./packs.ts";

/** For the signed-in scope. */
export function orderRoutes(deps: Deps): Routes {
  return async (app) => {
    app.post("/api/billing/order/preview", { schema: contract["POST /api/billing/order/preview"] }, async (request) =>
      previewOrder(deps, viewerOf(request).userId, request.body.priceId),
    );
    app.post("/api/functions/create-checkout", { schema: contract["POST /api/functions/create-checkout"] }, async (request) =>
      createCheckout(deps, viewerOf(request).userId, request.body),
    );
    app.post("/api/billing/packs/checkout", { schema: contract["POST /api/billing/packs/checkout"] }, async (request) =>
      createPackCheckout(deps, viewerOf(request).userId, request.body),
    );
  };
}
