import type { FastifyReply, FastifyRequest } from "fastify";
import type { ListName } from "#domain/tables.ts";
import { adminInvoiceRoutes as invoiceContract } from "../../contract/admin/invoices.ts";
import { adminMailRoutes as mailContract } from "../../contract/admin/mails.ts";
import { adminPeopleRoutes as contract } from "../../contract/admin/people.ts";
import type { Deps } from "../../deps.ts";
import type { Routes } from "../../http/app-type.ts";
import { steppedUpScope, viewerOf } from "../../http/viewer.ts";
import { resendConfirmationAs } from "../auth/sign-up.ts";
import { giveAccountBack, setBanned, signOutEverywhere } from "../auth/team-acts.ts";
import { checkPaymentsOf } from "../billing/doctor.ts";
import { linkToInvoice } from "../billing/invoices.ts";
import { changePlanEnd } from "../billing/team-acts.ts";
import { mailPayLink } from "../billing/team-pay-link.ts";
import { refundPayment } from "../billing/team-refunds.ts";
import { soldModel } from "../catalogue/service.ts";
import { giveCredits, takeCredits } from "../credits/adjustments.ts";
import { explainBalance } from "../credits/explanation.ts";
import { readLedger } from "../credits/history.ts";
import { ledgerCsv } from "../credits/history-csv.ts";
import { resendMail } from "../notifications/resend.ts";
import { askForPerson } from "../own-data/exports.ts";
import { askForSupportAccess, readForTeam } from "../support-access/service.ts";
import { sendDownload } from "../team/downloads.ts";
import { adminScope, clerkOf, teamScope } from "../team/service.ts";
import { isCut, peopleTable, withCustomer } from "./people-table.ts";
import { readPerson } from "./person.ts";
import { answersTable, invoicesTable, mailsTable } from "./person-tables.ts";
import { readTable, sendCsv } from "./tables.ts";

const ledgerLines = 50;

type OfPerson = FastifyRequest<{ Params: { userId: string } }>;
const personDownload = (deps: Deps) => (request: OfPerson, reply: FastifyReply, list: ListName) => ({
  deps,
  request,
  reply,
  list,
  about: request.params.userId,
});

function reading(deps: Deps): Routes {
  const { db } = deps;
  const ofPerson = personDownload(deps);
  return async (app) => {
    app.get("/api/admin/people", { schema: contract["GET /api/admin/people"] }, async (request) => {
      const query = await withCustomer(deps, request.query);
      return { ...(await readTable(db, peopleTable, query, query)), isCut: await isCut(db, query) };
    });
    app.get("/api/admin/people.csv", { schema: contract["GET /api/admin/people.csv"] }, async (request, reply) => {
      const query = await withCustomer(deps, request.query);
      return sendCsv({ deps, request, reply, list: "people" }, peopleTable, query, query);
    });
    app.get("/api/admin/people/:userId", { schema: contract["GET /api/admin/people/:userId"] }, async (request) =>
      readPerson(deps, request.params.userId, viewerOf(request)),
    );
    app.get("/api/admin/people/:userId/ledger", { schema: contract["GET /api/admin/people/:userId/ledger"] }, async ({ params, query }) =>
      readLedger(db, params.userId, query.cursor, query.limit ?? ledgerLines, query, null),
    );
    app.get(
      "/api/admin/people/:userId/ledger.csv",
      { schema: contract["GET /api/admin/people/:userId/ledger.csv"] },
      async (request, reply) =>
        sendDownload(
          ofPerson(request, reply, "person-credits"),
          ledgerCsv(db, request.params.userId, request.query, (id) => soldModel(deps, id)?.name ?? id, null),
        ),
    );
    app.get(
      "/api/admin/people/:userId/explanation",
      { schema: contract["GET /api/admin/people/:userId/explanation"] },
      async ({ params }) => explainBalance(db, params.userId),
    );
    app.get("/api/admin/people/:userId/answers", { schema: contract["GET /api/admin/people/:userId/answers"] }, async ({ params, query }) =>
      readTable(db, answersTable, query, { ...query, ...params }),
    );
    app.get(
      "/api/admin/people/:userId/answers.csv",
      { schema: contract["GET /api/admin/people/:userId/answers.csv"] },
      async (request, reply) =>
        sendCsv(ofPerson(request, reply, "person-answers"), answersTable, request.query, { ...request.query, ...request.params }),
    );
    app.get("/api/admin/people/:userId/mails", { schema: contract["GET /api/admin/people/:userId/mails"] }, async ({ params, query }) =>
      readTable(db, mailsTable, query, { ...query, ...params }),
    );
    app.get(
      "/api/admin/people/:userId/mails.csv",
      { schema: contract["GET /api/admin/people/:userId/mails.csv"] },
      async (request, reply) =>
        sendCsv(ofPerson(request, reply, "person-mails"), mailsTable, request.query, { ...request.query, ...request.params }),
    );
  };
}

/** Only admins see money. A link changes nothing, so it has no reason. */
function readingMoney(deps: Deps): Routes {
  const { db } = deps;
  const ofPerson = personDownload(deps);
  const link = "POST /api/admin/people/:userId/invoices/:invoiceId/link";
  return async (app) => {
    app.get(
      "/api/admin/people/:userId/invoices",
      { schema: invoiceContract["GET /api/admin/people/:userId/invoices"] },
      async ({ params, query }) => readTable(db, invoicesTable, query, { ...query, ...params }),
    );
    app.get(
      "/api/admin/people/:userId/invoices.csv",
      { schema: invoiceContract["GET /api/admin/people/:userId/invoices.csv"] },
      async (request, reply) =>
        sendCsv(ofPerson(request, reply, "person-invoices"), invoicesTable, request.query, { ...request.query, ...request.params }),
    );
    app.post(link.slice("POST ".length), { schema: invoiceContract[link] }, async ({ params: { userId, invoiceId } }) =>
      linkToInvoice(deps, userId, { id: invoiceId, wanted: { document: "pdf" } }),
    );
  };
}

/** Each has a reason on the audit log. */
function acting(deps: Deps): Routes {
  return async (app) => {
    app.post(
      "/api/admin/people/:userId/credits",
      { schema: contract["POST /api/admin/people/:userId/credits"] },
      async (request, reply) => {
        const { userId: actor, network } = clerkOf(request);
        await giveCredits(deps, { ...request.body, ...request.params, actor, network });
        return reply.code(204).send(null);
      },
    );
    app.post(
      "/api/admin/people/:userId/credits/take",
      { schema: contract["POST /api/admin/people/:userId/credits/take"] },
      async (request, reply) => {
        const { userId: actor, network } = clerkOf(request);
        await takeCredits(deps, { ...request.body, ...request.params, actor, network });
        return reply.code(204).send(null);
      },
    );
    for (const [name, banned] of [
      ["POST /api/admin/people/:userId/ban", true],
      ["POST /api/admin/people/:userId/unban", false],
    ] as const)
      app.post(name.slice("POST ".length), { schema: contract[name] }, async (request, reply) => {
        await setBanned(deps, clerkOf(request), { ...request.body, ...request.params }, banned);
        return reply.code(204).send(null);
      });
    app.post(
      "/api/admin/people/:userId/sign-out",
      { schema: contract["POST /api/admin/people/:userId/sign-out"] },
      async (request, reply) => {
        await signOutEverywhere(deps, clerkOf(request), { ...request.body, ...request.params });
        return reply.code(204).send(null);
      },
    );
    for (const [name, action] of [
      ["POST /api/admin/people/:userId/cancel", "plan.cancelled"],
      ["POST /api/admin/people/:userId/resume", "plan.resumed"],
    ] as const)
      app.post(name.slice("POST ".length), { schema: contract[name] }, async (request, reply) => {
        await changePlanEnd(deps, clerkOf(request), { ...request.body, ...request.params }, action);
        return reply.code(204).send(null);
      });
    app.post(
      "/api/admin/people/:userId/refunds",
      { schema: contract["POST /api/admin/people/:userId/refunds"] },
      async (request, reply) => {
        await refundPayment(deps, clerkOf(request), request.params.userId, request.body);
        return reply.code(204).send(null);
      },
    );
    app.post("/api/admin/people/:userId/export", { schema: contract["POST /api/admin/people/:userId/export"] }, async (request, reply) => {
      await askForPerson(deps, clerkOf(request), { ...request.body, ...request.params });
      return reply.code(204).send(null);
    });
    app.post(
      "/api/admin/people/:userId/check-payments",
      { schema: contract["POST /api/admin/people/:userId/check-payments"] },
      async (request) => {
        const { userId: actor, network } = clerkOf(request);
        return checkPaymentsOf(deps, { ...request.params, ...request.body, actor, network });
      },
    );
  };
}

/** For an account that was taken over. */
function givingBack(deps: Deps): Routes {
  return async (app) => {
    app.post(
      "/api/admin/people/:userId/give-back",
      { schema: contract["POST /api/admin/people/:userId/give-back"] },
      async (request, reply) => {
        await giveAccountBack(deps, clerkOf(request), { ...request.body, ...request.params });
        return reply.code(204).send(null);
      },
    );
  };
}

/** Each mail has a reason, which the audit log keeps. */
function mailing(deps: Deps): Routes {
  return async (app) => {
    app.post(
      "/api/admin/people/:userId/mails/:mailId/again",
      { schema: contract["POST /api/admin/people/:userId/mails/:mailId/again"] },
      async (request, reply) => {
        await resendMail(deps, clerkOf(request), { ...request.body, ...request.params });
        return reply.code(204).send(null);
      },
    );
    const payLink = "POST /api/admin/people/:userId/invoices/:invoiceId/pay-link";
    app.post(payLink.slice("POST ".length), { schema: mailContract[payLink] }, async (request, reply) => {
      await mailPayLink(deps, clerkOf(request), { ...request.body, ...request.params });
      return reply.code(204).send(null);
    });
    app.post("/api/admin/sign-ups/again", { schema: contract["POST /api/admin/sign-ups/again"] }, async (request, reply) => {
      await resendConfirmationAs(deps, clerkOf(request), request.body);
      return reply.code(204).send(null);
    });
  };
}

/** What people wrote, which they have to allow. It is about help and not about money, so support reads it too. */
function helping(deps: Deps): Routes {
  return async (app) => {
    app.post(
      "/api/admin/people/:userId/support-access",
      { schema: contract["POST /api/admin/people/:userId/support-access"] },
      async (request, reply) => {
        await askForSupportAccess(deps, clerkOf(request), { ...request.body, ...request.params });
        return reply.code(204).send(null);
      },
    );
    app.post(
      "/api/admin/people/:userId/answers/:answerId/read",
      { schema: contract["POST /api/admin/people/:userId/answers/:answerId/read"] },
      async (request) => readForTeam(deps, clerkOf(request), { ...request.body, ...request.params }),
    );
  };
}

/** For the signed-in scope. */
export function adminPeopleRoutes(deps: Deps): Routes {
  return async (app) => {
    await app.register(teamScope(deps, [reading(deps), steppedUpScope([helping(deps)])]));
    await app.register(adminScope(deps, [readingMoney(deps), steppedUpScope([acting(deps), givingBack(deps), mailing(deps)])]));
  };
}
