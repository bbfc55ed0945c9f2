import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { InboxNeighbours, InboxQuery, InboxRow } from "../../contract/admin/inbox.ts";
import { adminInboxRoutes as contract } from "../../contract/admin/inbox.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { viewerOf } from "../../http/viewer.ts";
import { answer, assign, readInboxMessage, setStatus } from "../contact/inbox.ts";
import { clerkOf, teamScope } from "../team/service.ts";
import { inboxTable, isInboxCut } from "./inbox-table.ts";
import { readNeighbours, readTable, sendCsv } from "./tables.ts";

/** The filter that the table takes. */
function filterOf(request: FastifyRequest<{ Querystring: InboxQuery }>) {
  const { owner, ...others } = request.query;
  return owner === undefined ? others : { ...others, owner: owner === "me" ? viewerOf(request).userId : owner };
}
type InboxFilter = ReturnType<typeof filterOf>;

async function readInboxNeighbours({ db }: Pick<Deps, "db">, messageId: string, query: InboxFilter): Promise<InboxNeighbours> {
  const found = await readNeighbours(db, inboxTable, query, query, sql<boolean>`m.id = ${messageId}`);
  if (!found) throw new DomainError("not_found", "There is no such message");
  const titled = (row: InboxRow | null) => row && { id: row.id, title: row.subject ?? row.beginning };
  return { previous: titled(found.above), next: titled(found.below) };
}

/** For the signed-in scope. Admins and support answer alike, since no money is involved; the history says who did what. */
export function adminInboxRoutes(deps: Deps): Routes {
  const { db } = deps;
  return teamScope(deps, [
    async (app) => {
      app.get("/api/admin/inbox", { schema: contract["GET /api/admin/inbox"] }, async (request) => ({
        ...(await readTable(db, inboxTable, request.query, filterOf(request))),
        isCut: await isInboxCut(db, request.query),
      }));
      app.get("/api/admin/inbox.csv", { schema: contract["GET /api/admin/inbox.csv"] }, async (request, reply) =>
        sendCsv({ deps, request, reply, list: "inbox" }, inboxTable, request.query, filterOf(request)),
      );
      app.get("/api/admin/inbox/:messageId", { schema: contract["GET /api/admin/inbox/:messageId"] }, async ({ params }) =>
        readInboxMessage(deps, params.messageId),
      );
      const neighbours = "GET /api/admin/inbox/:messageId/neighbours";
      app.get(neighbours.slice("GET ".length), { schema: contract[neighbours] }, async (request) =>
        readInboxNeighbours(deps, request.params.messageId, filterOf(request)),
      );
      app.put("/api/admin/inbox/:messageId/status", { schema: contract["PUT /api/admin/inbox/:messageId/status"] }, async (request) =>
        setStatus(deps, clerkOf(request), request.params.messageId, request.body),
      );
      app.put("/api/admin/inbox/:messageId/owner", { schema: contract["PUT /api/admin/inbox/:messageId/owner"] }, async (request) =>
        assign(deps, clerkOf(request), request.params.messageId, request.body),
      );
      app.post("/api/admin/inbox/:messageId/answers", { schema: contract["POST /api/admin/inbox/:messageId/answers"] }, async (request) =>
        answer(deps, clerkOf(request), request.params.messageId, request.body),
      );
    },
  ]);
}
