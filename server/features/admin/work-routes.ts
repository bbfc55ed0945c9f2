import { adminMailRoutes as mailContract } from "../../contract/admin/mails.ts";
import { adminWorkRoutes as contract } from "../../contract/admin/work.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope } from "../../http/viewer.ts";
import { discardLetters, replayLetters } from "../../queue/replay.ts";
import { discardEvents, replayEvents } from "../../queue/settle-events.ts";
import { sendUndelivered } from "../notifications/undelivered.ts";
import { adminScope, clerkOf } from "../team/service.ts";
import { sentMailsTable, waitingJobsTable } from "./mail-tables.ts";
import { readTable, sendCsv } from "./tables.ts";
import { readEvent, readLetter } from "./work-acts.ts";
import { eventsTable, lettersTable, refusedMailsTable } from "./work-tables.ts";

function reading(deps: Deps): Routes {
  const { db } = deps;
  return async (app) => {
    app.get("/api/admin/dead-letters", { schema: contract["GET /api/admin/dead-letters"] }, async ({ query }) =>
      readTable(db, lettersTable, query, query),
    );
    app.get("/api/admin/dead-letters.csv", { schema: contract["GET /api/admin/dead-letters.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "jobs" }, lettersTable, request.query, request.query),
    );
    app.get("/api/admin/dead-letters/:letterId", { schema: contract["GET /api/admin/dead-letters/:letterId"] }, async ({ params }) =>
      readLetter(db, params.letterId),
    );
    app.get("/api/admin/mails", { schema: mailContract["GET /api/admin/mails"] }, async ({ query }) =>
      readTable(db, sentMailsTable, query, query),
    );
    app.get("/api/admin/mails.csv", { schema: mailContract["GET /api/admin/mails.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "mails" }, sentMailsTable, request.query, request.query),
    );
    app.get("/api/admin/outbox", { schema: mailContract["GET /api/admin/outbox"] }, async ({ query }) =>
      readTable(db, waitingJobsTable, query, query),
    );
    app.get("/api/admin/outbox.csv", { schema: mailContract["GET /api/admin/outbox.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "waiting-jobs" }, waitingJobsTable, request.query, request.query),
    );
    app.get("/api/admin/refused-mails", { schema: contract["GET /api/admin/refused-mails"] }, async ({ query }) =>
      readTable(db, refusedMailsTable, query, query),
    );
    app.get("/api/admin/refused-mails.csv", { schema: contract["GET /api/admin/refused-mails.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "refused-mails" }, refusedMailsTable, request.query, request.query),
    );
    app.get("/api/admin/stripe-events", { schema: contract["GET /api/admin/stripe-events"] }, async ({ query }) =>
      readTable(db, eventsTable, query, query),
    );
    app.get("/api/admin/stripe-events.csv", { schema: contract["GET /api/admin/stripe-events.csv"] }, async (request, reply) =>
      sendCsv({ deps, request, reply, list: "events" }, eventsTable, request.query, request.query),
    );
    app.get("/api/admin/stripe-events/:eventId", { schema: contract["GET /api/admin/stripe-events/:eventId"] }, async ({ params }) =>
      readEvent(db, params.eventId),
    );
  };
}

/** Each has a reason on the audit log. */
function acting(deps: Deps): Routes {
  const { db } = deps;
  return async (app) => {
    app.post("/api/admin/dead-letters/replay", { schema: contract["POST /api/admin/dead-letters/replay"] }, async (request) => {
      const { ids, reason } = request.body;
      return { results: await replayLetters(db, ids, { ...clerkOf(request), reason }) };
    });
    app.post("/api/admin/dead-letters/discard", { schema: contract["POST /api/admin/dead-letters/discard"] }, async (request) => {
      const { ids, reason } = request.body;
      return { results: await discardLetters(db, ids, { ...clerkOf(request), reason }) };
    });
    app.post("/api/admin/refused-mails/again", { schema: contract["POST /api/admin/refused-mails/again"] }, async (request, reply) => {
      await sendUndelivered(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
    app.post("/api/admin/stripe-events/replay", { schema: contract["POST /api/admin/stripe-events/replay"] }, async (request) => {
      const { ids, reason } = request.body;
      return { results: await replayEvents(db, ids, { ...clerkOf(request), reason }) };
    });
    app.post("/api/admin/stripe-events/discard", { schema: contract["POST /api/admin/stripe-events/discard"] }, async (request) => {
      const { ids, reason } = request.body;
      return { results: await discardEvents(db, ids, { ...clerkOf(request), reason }) };
    });
  };
}

/** For the signed-in scope. */
export function adminWorkRoutes(deps: Deps): Routes {
  return adminScope(deps, [reading(deps), steppedUpScope([acting(deps)])]);
}
