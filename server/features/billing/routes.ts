import { doctorRoutes } from "../../contract/billing/doctor.ts";
import { billingRoutes as contract } from "../../contract/billing/subscription.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { optionalViewerOf, viewerOf } from "../../http/viewer.ts";
import { returnFromCheckout } from "./checkout-return.ts";
import { checkDiscountEligibility } from "./discount.ts";
import { checkPaymentsOf } from "./doctor.ts";
import { checkSubscription, openPortal } from "./service.ts";
import { startTrial } from "./trials.ts";

/** For the public scope, which knows the person if the call has a token. */
export function publicBillingRoutes(deps: Deps): Routes {
  return async (app) => {
    const path = "/api/functions/check-discount-eligibility";
    app.post(path, { schema: contract[`POST ${path}`] }, async (request) =>
      checkDiscountEligibility(deps, optionalViewerOf(request)?.userId),
    );
  };
}

/** For the signed-in scope. */
export function billingRoutes(deps: Deps): Routes {
  return async (app) => {
    app.post(
      "/api/functions/reliable-subscription-check",
      { schema: contract["POST /api/functions/reliable-subscription-check"] },
      async (request) => checkSubscription(deps, viewerOf(request).userId),
    );
    app.post("/api/billing/checkout-return", { schema: contract["POST /api/billing/checkout-return"] }, async (request) =>
      returnFromCheckout(deps, viewerOf(request).userId, request.body.sessionId),
    );
    app.post("/api/billing/trial", { schema: contract["POST /api/billing/trial"] }, async (request) =>
      startTrial(deps, { userId: viewerOf(request).userId, network: clientNetwork(request.ip) }),
    );
    app.post("/api/billing/doctor", { schema: doctorRoutes["POST /api/billing/doctor"] }, async (request) => {
      const { userId } = viewerOf(request);
      return checkPaymentsOf(deps, { userId, actor: userId, network: clientNetwork(request.ip) });
    });
    app.post("/api/billing/portal", { schema: contract["POST /api/billing/portal"] }, async (request) =>
      openPortal(deps, viewerOf(request).userId),
    );
  };
}
