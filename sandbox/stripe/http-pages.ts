import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readBillingAddress, readBusiness } from "./address-fields.ts";
import { declineMessage } from "./charge-build.ts";
import type { PaymentResult } from "./checkout-complete.ts";
import { answerAuthentication, paySession, successAddress } from "./checkout-complete.ts";
import type { Lacking } from "./checkout-page.ts";
import { checkoutPage } from "./checkout-page.ts";
import type { Context } from "./context.ts";
import { closeDispute, openDispute } from "./disputes.ts";
import { ApiError, invalidRequest, missingParameter } from "./errors.ts";
import type { InvoicePayment } from "./hosted-invoice.ts";
import { answerForIntent, answerForInvoice, payHostedInvoice, waitingIntent } from "./hosted-invoice.ts";
import { html, page, pageHeaders } from "./html.ts";
import { newId } from "./ids.ts";
import { answeredPage, authenticationPage, invoicePage } from "./invoice-page.ts";
import { creditNoteFile, invoiceFile } from "./invoice-pdf.ts";
import type { CardBehaviour } from "./kinds.ts";
import { cardBehaviours } from "./kinds.ts";
import { cancelAtPeriodEnd, changeAddress, changeCard, changeTaxId, payOpenInvoice, resumeSubscription } from "./portal.ts";
import { portalPage } from "./portal-page.ts";
import { receiptPage } from "./receipt-page.ts";

const stylesheet = readFileSync(new URL("./assets/page.css", import.meta.url), "utf8");
/** The product's display typeface, so that these pages look like the product's. */
const displayFace = readFileSync(new URL(import.meta.resolve("@fontsource/spectral/files/spectral-latin-500-normal.woff2")));
const script = readFileSync(new URL("./assets/page.js", import.meta.url), "utf8");

/** The fields of a form or of a JSON object. Values that are not strings count as absent. */
function fieldsOf(request: FastifyRequest): { fields: Map<string, string>; json: boolean } {
  const body = request.body;
  if (typeof body === "string") return { fields: new Map(new URLSearchParams(body)), json: false };
  const entries = typeof body === "object" && body !== null ? Object.entries(body) : [];
  return { fields: new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string")), json: true };
}

function paramOf(request: FastifyRequest, name: string): string {
  const value = (request.params as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}

function readCard(fields: Map<string, string>): CardBehaviour {
  const card = fields.get("card");
  if (card === undefined) throw missingParameter("card");
  const known = cardBehaviours.find((behaviour) => behaviour === card);
  if (known !== undefined) return known;
  throw invalidRequest(`Invalid card: must be one of ${cardBehaviours.join(", ")}`, "card");
}

function sendPdf(reply: FastifyReply, name: string, content: Buffer): FastifyReply {
  const disposition = `attachment; filename="${name}.pdf"`;
  const headers = { "content-disposition": disposition, "cache-control": "no-store", "x-content-type-options": "nosniff" };
  return reply.headers(headers).type("application/pdf").send(content);
}

function lackingOf(error: unknown): Lacking | undefined {
  const param = error instanceof ApiError ? error.fields.param : undefined;
  return param === "country" ? "address" : param === "tax_id" ? param : undefined;
}

export function sendError(reply: FastifyReply, error: unknown, asPage: boolean): FastifyReply {
  if (!(error instanceof ApiError)) throw error;
  if (!asPage) return reply.code(error.status).send(error.body(newId("req", 14)));
  const text = page("Sandbox", html`<section class="panel narrow"><h1>This page can't be shown</h1><p>${error.message}</p></section>`);
  return reply.code(error.status).headers(pageHeaders([])).send(text);
}

function mountCheckout(server: FastifyInstance, context: Context, afterChange: () => void): void {
  server.get("/c/pay/:session", (request, reply) => {
    try {
      const session = context.store.get("checkout.session", paramOf(request, "session"), "session");
      const query = request.query as Record<string, unknown>;
      const lacking = (["address", "tax_id"] as const).find((name) => query[name] !== undefined);
      return reply.headers(pageHeaders([session.success_url, session.cancel_url])).send(checkoutPage(context, session, lacking));
    } catch (error) {
      return sendError(reply, error, true);
    }
  });

  server.post("/checkout/:session/pay", (request, reply) => {
    const sessionId = paramOf(request, "session");
    const { fields, json } = fieldsOf(request);
    const fromPage = fields.get("from") === "page";
    try {
      const step = fields.get("step");
      const result = context.store.transaction((): PaymentResult => {
        if (step === "approve" || step === "refuse") return answerAuthentication(context, sessionId, step === "approve");
        return paySession(context, sessionId, {
          card: readCard(fields),
          waits: fromPage,
          address: readBillingAddress(fields),
          business: readBusiness(fields),
        });
      });
      afterChange();
      if (result.kind === "paid") return reply.redirect(successAddress(result.session), 303);
      if (result.kind === "declined" && json) {
        const fields402 = {
          type: "card_error",
          code: "card_declined",
          decline_code: "generic_decline",
          message: declineMessage,
          payment_intent: result.intent,
          ...(result.charge && { charge: result.charge.id }),
        } as const;
        return reply.code(402).send(new ApiError(402, fields402).body(newId("req", 14)));
      }
      return reply.redirect(`/c/pay/${sessionId}`, 303);
    } catch (error) {
      // A person whose page is out of date is shown the session's current state; a script gets the error.
      if (fromPage && context.store.find("checkout.session", sessionId))
        return reply.redirect(`/c/pay/${sessionId}${lackingOf(error) ? `?${lackingOf(error)}` : ""}`, 303);
      return sendError(reply, error, false);
    }
  });
}

const declinedNotice = "Your card was declined. Nothing was charged. Choose another card and try again.";

function mountPortal(server: FastifyInstance, context: Context, afterChange: () => void): void {
  server.get("/p/session/:id", (request, reply) => {
    try {
      const id = paramOf(request, "id");
      const session = context.store.get("billing_portal.session", id, "session");
      const declined = (request.query as { declined?: unknown }).declined !== undefined;
      return reply.headers(pageHeaders([session.return_url])).send(portalPage(context, id, declined ? declinedNotice : null));
    } catch (error) {
      return sendError(reply, error, true);
    }
  });

  server.post("/p/session/:id/:action", (request, reply) => {
    const id = paramOf(request, "id");
    const { fields } = fieldsOf(request);
    const target = fields.get("target") ?? "";
    try {
      const done = context.store.transaction(() => {
        switch (paramOf(request, "action")) {
          case "cancel":
            cancelAtPeriodEnd(context, id, target);
            return true;
          case "resume":
            resumeSubscription(context, id, target);
            return true;
          case "card":
            changeCard(context, id, readCard(fields));
            return true;
          case "address": {
            const address = readBillingAddress(fields);
            if (!address) throw missingParameter("country");
            changeAddress(context, id, address);
            return true;
          }
          case "tax-id":
            changeTaxId(context, id, readBusiness(fields));
            return true;
          case "pay":
            return payOpenInvoice(context, id, target);
          default:
            throw new ApiError(404, { type: "invalid_request_error", message: "There is no such action." });
        }
      });
      afterChange();
      return reply.redirect(`/p/session/${id}${done ? "" : "?declined"}`, 303);
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
}

function mountInvoices(server: FastifyInstance, context: Context, afterChange: () => void): void {
  server.get("/i/:id", (request, reply) => {
    try {
      const { notice } = request.query as { notice?: unknown };
      const invoice = context.store.get("invoice", paramOf(request, "id"), "invoice");
      return reply.headers(pageHeaders([])).send(invoicePage(context, invoice, typeof notice === "string" ? notice : undefined));
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
  const pdfs = [
    ["/i/:id/pdf", invoiceFile],
    ["/credit-notes/:id/pdf", creditNoteFile],
  ] as const;
  for (const [url, fileOf] of pdfs)
    server.get(url, (request, reply) => {
      try {
        const { name, content } = fileOf(context, paramOf(request, "id"));
        return sendPdf(reply, name, content);
      } catch (error) {
        return sendError(reply, error, true);
      }
    });
  const after = (reply: FastifyReply, id: string, result: InvoicePayment, notice: string) =>
    reply.redirect(`/i/${id}${result === "declined" ? `?notice=${notice}` : ""}`, 303);
  server.post("/i/:id/pay", (request, reply) => {
    const id = paramOf(request, "id");
    const { fields } = fieldsOf(request);
    try {
      const card = fields.get("card") === "saved" ? "saved" : readCard(fields);
      const result = context.store.transaction(() => payHostedInvoice(context, id, card));
      afterChange();
      return after(reply, id, result, "declined");
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
  server.post("/i/:id/authenticate", (request, reply) => {
    const id = paramOf(request, "id");
    try {
      const result = context.store.transaction(() => answerForInvoice(context, id, readApproval(request)));
      afterChange();
      return after(reply, id, result, "refused");
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
}

function mountReceipts(server: FastifyInstance, context: Context): void {
  server.get("/receipts/:id", (request, reply) => {
    try {
      return reply.headers(pageHeaders([])).send(receiptPage(context, paramOf(request, "id")));
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
}

function readApproval(request: FastifyRequest): boolean {
  const step = fieldsOf(request).fields.get("step");
  if (step !== "approve" && step !== "refuse") throw invalidRequest("Invalid step: must be one of approve, refuse", "step");
  return step === "approve";
}

/** The bank's page for an intent that the API confirmed. */
function mountAuthentication(server: FastifyInstance, context: Context, afterChange: () => void): void {
  server.get("/authenticate/:id", (request, reply) => {
    try {
      const intent = waitingIntent(context, paramOf(request, "id"));
      const headers = pageHeaders([intent.next_action?.redirect_to_url?.return_url ?? null]);
      return reply.headers(headers).send(authenticationPage(context, intent));
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
  server.post("/authenticate/:id", (request, reply) => {
    try {
      const approved = readApproval(request);
      const back = context.store.transaction(() => answerForIntent(context, paramOf(request, "id"), approved));
      afterChange();
      return back === null ? reply.headers(pageHeaders([])).send(answeredPage(approved)) : reply.redirect(back, 303);
    } catch (error) {
      return sendError(reply, error, true);
    }
  });
}

/** Endpoints of the sandbox for what only a cardholder's bank can do. */
function mountDisputes(server: FastifyInstance, context: Context, afterChange: () => void): void {
  function answer(reply: FastifyReply, work: () => object): FastifyReply {
    try {
      const result = context.store.transaction(work);
      afterChange();
      return reply.send(result);
    } catch (error) {
      return sendError(reply, error, false);
    }
  }
  server.post("/sandbox/disputes", (request, reply) =>
    answer(reply, () => {
      const { fields } = fieldsOf(request);
      const charge = fields.get("charge");
      if (charge === undefined) throw missingParameter("charge");
      return openDispute(context, charge, { reason: "fraudulent", inquiry: fields.get("inquiry") === "true" });
    }),
  );
  server.post("/sandbox/disputes/:id/close", (request, reply) =>
    answer(reply, () => {
      const outcome = fieldsOf(request).fields.get("outcome");
      if (outcome !== "won" && outcome !== "lost") throw invalidRequest("Invalid outcome: must be one of won, lost", "outcome");
      return closeDispute(context, paramOf(request, "id"), outcome);
    }),
  );
}

export function mountPages(server: FastifyInstance, context: Context, afterChange: () => void): void {
  const asset = { "cache-control": "no-cache", "x-content-type-options": "nosniff" };
  server.get("/stripe/page.css", (_request, reply) => reply.headers(asset).type("text/css; charset=utf-8").send(stylesheet));
  server.get("/stripe/page.js", (_request, reply) => reply.headers(asset).type("text/javascript; charset=utf-8").send(script));
  server.get("/stripe/spectral.woff2", (_request, reply) => reply.headers(asset).type("font/woff2").send(displayFace));
  mountCheckout(server, context, afterChange);
  mountPortal(server, context, afterChange);
  mountInvoices(server, context, afterChange);
  mountReceipts(server, context);
  mountAuthentication(server, context, afterChange);
  mountDisputes(server, context, afterChange);
}
