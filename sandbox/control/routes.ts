import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { filterReasons } from "#domain/filter-reasons.ts";
import type { SandboxClock } from "../clock.ts";
import type { MailStore } from "../mail/store.ts";
import { slowestPaceMs } from "../models/delivery.ts";
import type { ModelFault } from "../models/faults.ts";
import { isFaultTarget, modelFaultKinds } from "../models/faults.ts";
import type { ModelServer } from "../models/plugin.ts";
import type { ApiFault } from "../stripe/api-faults.ts";
import { apiFaultKinds } from "../stripe/api-faults.ts";
import type { EventFault } from "../stripe/deliver.ts";
import { parseDuration } from "./duration.ts";
import { readChoice, readFields, readInteger, readText } from "./input.ts";
import { ControlProblem } from "./problem.ts";
import { ProductRefusal, ProductUnreachable } from "./product-clock.ts";
import type { Stepper } from "./stepper.ts";
import { StepStalled } from "./stepper.ts";

export const eventFaultKinds = ["delay", "double", "reorder", "lose"] as const satisfies readonly EventFault["kind"][];

export interface ControlParts {
  clock: SandboxClock;
  /** Undefined with the real Stripe, whose time can't be moved. */
  stepper: Stepper | undefined;
  mails: MailStore;
  models: ModelServer;
  /** Replaces the pending faults for events; undefined with the real Stripe. */
  setEventFaults: ((faults: EventFault[]) => void) | undefined;
  /** Replaces the pending faults of the API; undefined with the real Stripe. */
  setApiFaults: ((faults: ApiFault[]) => void) | undefined;
}

const farthestMonths = 60;
const farthestMs = farthestMonths * 31 * 24 * 3_600_000;
const mailsListed = 200;
const defaultFaultTokens = 8;
const defaultDelayMs = 5_000;
const longestDelayMs = 600_000;

/** After a form, redirects back to its part of the page; a script gets the outcome as JSON. */
function answerChange(request: FastifyRequest, reply: FastifyReply, part: string, outcome: object): FastifyReply {
  if (request.headers.accept?.includes("text/html") === true) return reply.redirect(`/?done=${part}#${part}`, 303);
  return reply.send(outcome);
}

function stripeIsElsewhere(): ControlProblem {
  return new ControlProblem(
    409,
    "stripe_not_sandboxed",
    "Stripe is the real one here; neither its time nor its events can be changed from the sandbox.",
  );
}

function explainStop(error: unknown): unknown {
  if (error instanceof StepStalled) return new ControlProblem(504, "clock_stalled", error.message);
  if (error instanceof ProductUnreachable)
    return new ControlProblem(502, "product_unreachable", `The product can't be reached: ${error.message}.`);
  if (error instanceof ProductRefusal)
    return new ControlProblem(502, "product_refused", `The product refused to move its clock: ${error.message}.`);
  return error;
}

function registerClock(instance: FastifyInstance, { clock, stepper }: ControlParts): void {
  instance.get("/clock", async () => ({ now: clock.now().toISOString() }));
  instance.post("/clock", async (request, reply) => {
    if (stepper === undefined) throw stripeIsElsewhere();
    const text = readText(readFields(request.body, ["advance"]), "advance") ?? "";
    const duration = parseDuration(text);
    if (duration === undefined) {
      throw new ControlProblem(
        400,
        "validation_failed",
        `“${text}” is not an ISO 8601 duration with whole numbers, such as P1M, P7D or PT1H30M.`,
        "advance",
      );
    }
    if (duration.months > farthestMonths || duration.milliseconds > farthestMs) {
      throw new ControlProblem(400, "validation_failed", "Time can be moved by at most five years at once.", "advance");
    }
    const now = await stepper.advance(duration).catch((error: unknown) => {
      throw explainStop(error);
    });
    return answerChange(request, reply, "clock", { now: now.toISOString() });
  });
}

function readModelFault(body: unknown): { model: string; fault: ModelFault | null } {
  const fields = readFields(body, ["model", "fault", "count", "afterTokens", "delayMs", "reason"]);
  const model = readText(fields, "model") ?? "";
  if (!isFaultTarget(model))
    throw new ControlProblem(400, "unknown_model", `There is no model “${model}”; “*” means all of them.`, "model");
  const kind = readChoice(fields, "fault", modelFaultKinds);
  const count = readInteger(fields, "count", 1, 1_000_000) ?? null;
  const afterTokens = readInteger(fields, "afterTokens", 0, 100_000) ?? (kind === "hang" ? 0 : defaultFaultTokens);
  const delayMs = readInteger(fields, "delayMs", 0, longestDelayMs) ?? defaultDelayMs;
  const reason = fields.reason === undefined ? null : readChoice(fields, "reason", filterReasons);
  return { model, fault: kind === null ? null : { model, fault: kind, count, afterTokens, delayMs, ...(reason && { reason }) } };
}

function registerModels(instance: FastifyInstance, { models }: ControlParts): void {
  instance.get("/models/fault", async () => ({ faults: models.faults.list() }));
  instance.post("/models/fault", async (request, reply) => {
    const { model, fault } = readModelFault(request.body);
    if (fault === null) models.faults.clear(model);
    else models.faults.set(fault);
    return answerChange(request, reply, "models", { faults: models.faults.list() });
  });
  instance.post("/models/pace", async (request, reply) => {
    const pace = readInteger(readFields(request.body, ["paceMs"]), "paceMs", 0, slowestPaceMs);
    if (pace === undefined)
      throw new ControlProblem(400, "validation_failed", "“paceMs” must be a whole number: milliseconds per token.", "paceMs");
    models.pace.milliseconds = pace;
    return answerChange(request, reply, "models", { paceMs: pace });
  });
  instance.get("/models/calls", async () => ({ calls: models.calls.list() }));
}

function readEventFault(body: unknown): EventFault | null {
  const fields = readFields(body, ["fault", "eventType", "count", "delayMs"]);
  const kind = readChoice(fields, "fault", eventFaultKinds);
  const eventType = readText(fields, "eventType");
  const count = readInteger(fields, "count", 1, 1_000_000);
  const delayMs = readInteger(fields, "delayMs", 0, longestDelayMs);
  if (kind === null) return null;
  return {
    kind,
    ...(eventType === undefined ? {} : { eventType }),
    ...(count === undefined ? {} : { count }),
    ...(delayMs === undefined ? {} : { delayMs }),
  };
}

function readApiFault(body: unknown): ApiFault | null {
  const fields = readFields(body, ["fault", "method", "path", "count"]);
  const kind = readChoice(fields, "fault", apiFaultKinds);
  const method = readText(fields, "method")?.toUpperCase();
  const path = readText(fields, "path");
  const count = readInteger(fields, "count", 1, 1_000_000);
  if (kind === null) return null;
  return {
    kind,
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(count === undefined ? {} : { count }),
  };
}

function registerApiFaults(instance: FastifyInstance, { setApiFaults }: ControlParts): void {
  instance.post("/stripe/api-fault", async (request, reply) => {
    if (setApiFaults === undefined) throw stripeIsElsewhere();
    const fault = readApiFault(request.body);
    const faults = fault === null ? [] : [fault];
    setApiFaults(faults);
    return answerChange(request, reply, "api", { faults });
  });
}

function registerEvents(instance: FastifyInstance, { setEventFaults }: ControlParts): void {
  instance.post("/stripe/fault", async (request, reply) => {
    if (setEventFaults === undefined) throw stripeIsElsewhere();
    const fault = readEventFault(request.body);
    const faults = fault === null ? [] : [fault];
    setEventFaults(faults);
    return answerChange(request, reply, "events", { faults });
  });
}

function registerMail(instance: FastifyInstance, { mails }: ControlParts): void {
  instance.get("/mail", async (request) => {
    const query: unknown = request.query;
    const to = readText(readFields(query, ["to"]), "to");
    return mails.list(to, mailsListed);
  });
}

/** The endpoints for scripts; the page's forms post to the same ones. */
export function registerControlRoutes(instance: FastifyInstance, parts: ControlParts): void {
  registerClock(instance, parts);
  registerModels(instance, parts);
  registerEvents(instance, parts);
  registerApiFaults(instance, parts);
  registerMail(instance, parts);
}
