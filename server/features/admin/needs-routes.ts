import { adminNeedsRoutes as contract } from "../../contract/admin/needs.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope } from "../../http/viewer.ts";
import { closeFindingAs, reopenFindingAs } from "../findings/service.ts";
import { adminScope, clerkOf } from "../team/service.ts";
import { readClosedFindings } from "./closed-findings.ts";
import { checkEverythingAs, readNeeds, releaseHoldsAs } from "./needs.ts";
import { bringBackAs, putOffAs } from "./put-off.ts";

/** Each has a reason on the audit log. */
function acting(deps: Deps): Routes {
  const { db } = deps;
  return async (app) => {
    app.post("/api/admin/needs/put-off", { schema: contract["POST /api/admin/needs/put-off"] }, async (request, reply) => {
      const { reason, ...entry } = request.body;
      await putOffAs(deps, clerkOf(request), entry, reason);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/needs/bring-back", { schema: contract["POST /api/admin/needs/bring-back"] }, async (request, reply) => {
      const { reason, ...entry } = request.body;
      await bringBackAs(deps, clerkOf(request), entry, reason);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/findings/close", { schema: contract["POST /api/admin/findings/close"] }, async (request, reply) => {
      const { findingId, reason } = request.body;
      await closeFindingAs(db, clerkOf(request), findingId, reason, deps.clock.now());
      return reply.code(204).send(null);
    });
    app.post("/api/admin/findings/reopen", { schema: contract["POST /api/admin/findings/reopen"] }, async (request, reply) => {
      await reopenFindingAs(db, clerkOf(request), request.body.findingId, request.body.reason);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/findings/check-all", { schema: contract["POST /api/admin/findings/check-all"] }, async (request, reply) => {
      await checkEverythingAs(deps, clerkOf(request), request.body.reason);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/holds/release", { schema: contract["POST /api/admin/holds/release"] }, async (request) => ({
      count: await releaseHoldsAs(deps, clerkOf(request), request.body.reason),
    }));
  };
}

/** For the signed-in scope. */
export function adminNeedsRoutes(deps: Deps): Routes {
  const reading: Routes = async (app) => {
    app.get("/api/admin/needs", { schema: contract["GET /api/admin/needs"] }, async ({ query }) => readNeeds(deps, query.putOff === true));
    app.get("/api/admin/findings/closed", { schema: contract["GET /api/admin/findings/closed"] }, async () => readClosedFindings(deps.db));
  };
  return adminScope(deps, [reading, steppedUpScope([acting(deps)])]);
}
