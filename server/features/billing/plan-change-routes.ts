import { planChangeRoutes as contract } from "../../contract/billing/plan-change.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { cancelPlan, resumePlan } from "./cancellation.ts";
import { changePlan, previewPlanChange, undoPlanChange } from "./plan-change.ts";

/** For the signed-in scope: changing the plan, cancelling and resuming it. */
export function planChangeRoutes(deps: Deps): Routes {
  return async (app) => {
    const preview = "/api/billing/plan-change/preview";
    app.post(preview, { schema: contract[`POST ${preview}`] }, async (request) =>
      previewPlanChange(deps, viewerOf(request).userId, request.body.priceId),
    );
    const change = "/api/billing/plan-change";
    app.post(change, { schema: contract[`POST ${change}`] }, async (request) => changePlan(deps, viewerOf(request).userId, request.body));
    app.delete(change, { schema: contract[`DELETE ${change}`] }, async (request) => undoPlanChange(deps, viewerOf(request).userId));
    const cancellation = "/api/billing/cancellation";
    app.post(cancellation, { schema: contract[`POST ${cancellation}`] }, async (request) => cancelPlan(deps, viewerOf(request).userId));
    app.delete(cancellation, { schema: contract[`DELETE ${cancellation}`] }, async (request) => resumePlan(deps, viewerOf(request).userId));
  };
}
