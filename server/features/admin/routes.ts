import type { FastifyRequest } from "fastify";
import type { TeamRole } from "#domain/team.ts";
import { adminCampaignRoutes } from "../../contract/admin/campaigns.ts";
import { adminRoutes as contract } from "../../contract/admin/team.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { optionalViewerOf, steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { setRole } from "../auth/set-role.ts";
import { adminScope, clerkOf, teamScope } from "../team/service.ts";
import { auditTable, auditTableWithoutMoney } from "./audit-table.ts";
import { campaignsTable } from "./campaigns-table.ts";
import { readTable, sendCsv } from "./tables.ts";
import { teamTable } from "./team-table.ts";

/** For a public scope, which has just read the role from the database. A visitor is not an admin (spec §6). */
export function publicAdminRoutes(): Routes {
  return async (app) => {
    app.post("/api/functions/verify-admin", { schema: contract["POST /api/functions/verify-admin"] }, async (request) => {
      const role = optionalViewerOf(request)?.role ?? "user";
      return { isAdmin: role === "admin", team: role === "user" ? null : role };
    });
  };
}

const tableFor = (request: FastifyRequest) => (viewerOf(request).role === "admin" ? auditTable : auditTableWithoutMoney);

/** For the signed-in scope. */
export function adminRoutes(deps: Deps): Routes {
  const team: Routes = async (app) => {
    app.get("/api/admin/me", { schema: contract["GET /api/admin/me"] }, async (request) => {
      const role: TeamRole = viewerOf(request).role === "admin" ? "admin" : "support";
      return { role };
    });
    app.get("/api/admin/team", { schema: contract["GET /api/admin/team"] }, async ({ query }) =>
      readTable(deps.db, teamTable(deps.config), query, query),
    );
    app.get("/api/admin/team.csv", { schema: contract["GET /api/admin/team.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "team" }, teamTable(deps.config), request.query, request.query),
    );
    app.get("/api/admin/audit", { schema: contract["GET /api/admin/audit"] }, async (request) =>
      readTable(deps.db, tableFor(request), request.query, request.query),
    );
    app.get("/api/admin/audit.csv", { schema: contract["GET /api/admin/audit.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "audit" }, tableFor(request), request.query, request.query),
    );
  };
  const dangerous: Routes = async (app) => {
    app.put("/api/admin/team", { schema: contract["PUT /api/admin/team"] }, async (request, reply) => {
      await setRole(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
  };
  const admin: Routes = async (app) => {
    app.get("/api/admin/campaigns", { schema: adminCampaignRoutes["GET /api/admin/campaigns"] }, async ({ query }) =>
      readTable(deps.db, campaignsTable(deps.clock.now()), query, query),
    );
    app.get("/api/admin/campaigns.csv", { schema: adminCampaignRoutes["GET /api/admin/campaigns.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "campaigns" }, campaignsTable(deps.clock.now()), request.query, request.query),
    );
    await app.register(steppedUpScope([dangerous]));
  };
  return async (app) => {
    await app.register(teamScope(deps, [team]));
    await app.register(adminScope(deps, [admin]));
  };
}
