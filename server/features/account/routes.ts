import { accountRoutes as contract } from "../../contract/account/account.ts";
import { activityRoutes } from "../../contract/account/activity.ts";
import { profileRoutes } from "../../contract/account/profile.ts";
import { stepUpRoutes } from "../../contract/account/step-up.ts";
import type { Routes } from "../../http/app-type.ts";
import { clientNetwork } from "../../http/client-network.ts";
import { viewerOf } from "../../http/viewer.ts";
import { createBrowserMemory } from "../auth/browser-memory.ts";
import type { AuthDeps } from "../auth/callers.ts";
import { fewOfOneNetwork } from "../auth/callers.ts";
import { changeOwnPassword } from "../auth/change-password.ts";
import { readGoogleAnswer } from "../auth/google-cookies.ts";
import { readStepUpWays, stepUp } from "../auth/step-up.ts";
import { readActivity } from "./activity.ts";
import { changeProfile, readAccount } from "./service.ts";

/** For a signed-in scope. */
export function accountRoutes(deps: AuthDeps): Routes {
  const browser = createBrowserMemory(deps);
  return async (app) => {
    app.get("/api/account", { schema: contract["GET /api/account"] }, async (request) => readAccount(deps.db, viewerOf(request).userId));
    app.patch("/api/account", { schema: profileRoutes["PATCH /api/account"] }, async (request) =>
      changeProfile(deps.db, viewerOf(request).userId, request.body),
    );
    app.get("/api/account/activity", { schema: activityRoutes["GET /api/account/activity"] }, async (request) =>
      readActivity(deps.db, viewerOf(request).userId, request.query.cursor),
    );
    app.get("/api/account/step-up", { schema: stepUpRoutes["GET /api/account/step-up"] }, async (request) => ({
      ways: await readStepUpWays(deps, viewerOf(request).userId),
    }));
    app.post("/api/account/step-up", { schema: stepUpRoutes["POST /api/account/step-up"] }, async (request, reply) => {
      const googleAnswerId = readGoogleAnswer(deps, request);
      await stepUp(deps, { ...viewerOf(request), network: clientNetwork(request.ip), googleAnswerId }, request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/account/password", { schema: contract["POST /api/account/password"] }, async (request, reply) => {
      const caller = browser.callerOf(request);
      const prover = { ...viewerOf(request), network: caller.network };
      const person = await fewOfOneNetwork(caller, () => changeOwnPassword(deps, prover, request.body));
      // The new password makes the account's browsers unknown. We remember this one again.
      if (person) browser.keepDevice(reply, caller, person);
      return reply.code(204).send(null);
    });
  };
}
