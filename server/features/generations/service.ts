/** What a person does with answers: ask, follow, stop, read the receipt. */
import { createHash } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { findModel, isBuilt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { checkPrompt, ruleMessages } from "#domain/rules.ts";
import type { CreateGeneration, Receipt } from "../../contract/generations.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import type { Feed } from "../../http/event-stream.ts";
import { ValidationError } from "../../http/problem.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import { availableCredits } from "../credits/service.ts";
import type { Answers } from "./answers.ts";
import { historyBudget, trimHistory } from "./history.ts";
import type { StartOutcome } from "./queries.ts";
import * as queries from "./queries.ts";
import { toReceipt } from "./receipt.ts";
import { replay } from "./replay.ts";

export interface Ask {
  userId: string;
  idempotencyKey: string;
  request: CreateGeneration;
}

const titleCodePoints = 80;
/** How long a stop waits for the receipt. */
const stopWaitMs = 5_000;

/** The first line of the first prompt. */
function titleOf(prompt: string): string {
  return [...(prompt.split(/[\r\n]/, 1)[0] ?? "")].slice(0, titleCodePoints).join("").trim();
}

function hashOf(request: CreateGeneration, prompt: string): Buffer {
  const content = JSON.stringify([request.model, prompt, request.conversationId ?? null, request.quotedCredits]);
  return createHash("sha256").update(content).digest();
}

function readModel(request: CreateGeneration): Model {
  const fault = checkPrompt(request.prompt);
  if (fault) throw new ValidationError([{ field: "prompt", message: fault }]);
  if (request.model.trim() === "") throw new ValidationError([{ field: "model", message: ruleMessages.modelMissing }]);
  const model = findModel(request.model);
  if (!model) throw new DomainError("unknown_model", "There is no such model");
  if (!isBuilt(model)) throw new DomainError("model_not_supported", `${model.name} can't be used yet`);
  return model;
}

/** Why this send can't be taken now, as far as it can be told without looking at what else the person is asking. */
async function findRefusal(deps: Deps, ask: Ask, model: Model, entitlement: Entitlement): Promise<DomainError | undefined> {
  if (!deps.models.isAvailable(model))
    return new DomainError("model_unavailable", `${model.name} is temporarily unavailable. Try again later`);
  if (!entitlement.subscribed) {
    const kinds = entitlement.kinds(model.size === "small");
    if ((await availableCredits(deps.db, ask.userId, kinds, deps.clock.now())) === 0)
      return new DomainError("subscription_required", `${model.name} needs an active subscription`);
  }
  const quotedCredits = quoteCredits(model);
  if (ask.request.quotedCredits !== quotedCredits)
    return new DomainError("price_changed", `The price is now ${quotedCredits} credits`, { quotedCredits });
  return undefined;
}

/** Refused or not, the same key and content give the same answer as before. */
async function findKnown(executor: Executor, ask: Ask, requestHash: Buffer): Promise<GenerationRow | undefined> {
  const known = await queries.selectByKey(executor, ask.userId, ask.idempotencyKey);
  if (!known) return undefined;
  // What was asked is no longer known of an answer that was deleted.
  if (known.conversation_id !== null && !known.request_hash.equals(requestHash)) throw keyConflict();
  return known;
}

function keyConflict(): DomainError {
  return new DomainError("idempotency_conflict", "The same key was used for something else");
}

function insufficientCredits(needed: number, available: number): DomainError {
  return new DomainError("insufficient_credits", `This needs ${needed} credits; ${available} are available`, { needed, available });
}

function refusalOf(result: StartOutcome, credits: number): DomainError {
  switch (result.outcome) {
    case "conflict":
      return keyConflict();
    case "no_conversation":
      return new DomainError("not_found", "There is no such conversation");
    case "too_many_answers":
      return new DomainError("too_many_answers", "Other answers are still under way. Wait for one to end, or stop it", {
        retryAfterSeconds: 5,
      });
    case "rate_limited": {
      const retryAfterSeconds = Math.max(Math.ceil((result.retry_after_ms ?? 0) / 1_000), 1);
      return new DomainError("rate_limited", `Your plan's rate is used up. Try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
    }
    case "wallet_frozen":
      return new DomainError("wallet_frozen", "The wallet is frozen while a payment is disputed");
    default:
      return insufficientCredits(credits, result.available ?? 0);
  }
}

/** What of the conversation goes to the model before the prompt. */
async function readHistory(deps: Deps, { request, userId }: Ask, model: Model, prompt: string) {
  const earlier = request.conversationId
    ? await queries.selectHistory(deps.db, { id: request.conversationId, userId, tokenBudget: historyBudget(model, prompt) })
    : { messages: [], total: 0 };
  return trimHistory(earlier.messages, earlier.total, prompt);
}

/**
 * Holds the price, stores the question and calls the model; returns the answer's events. The same key with the same content
 * returns the events of the same answer again. Throws refusals as DomainErrors; they count towards the person's rate.
 */
export async function startAnswer(deps: Deps, answers: Answers, ask: Ask): Promise<Feed> {
  const { request, userId } = ask;
  const model = readModel(request);
  const prompt = request.prompt.trim();
  const requestHash = hashOf(request, prompt);
  if (answers.closing) {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
    throw new DomainError("service_unavailable", "The service is restarting. Try again in a moment", { retryAfterSeconds: 2 });
  }
  const entitlement = await answers.batches.entitlement(userId, deps.clock.now());
  const refusal = await findRefusal(deps, ask, model, entitlement);
  const { messages, trimmedMessages } = refusal ? { messages: [], trimmedMessages: 0 } : await readHistory(deps, ask, model, prompt);
  const start = { id: uuidv7(), userId, trimmedMessages };
  const credits = quoteCredits(model);
  const askedAtMs = performance.now();
  const row = {
    ...start,
    modelId: model.id,
    idempotencyKey: ask.idempotencyKey,
    requestHash,
    credits,
    kinds: entitlement.kinds(model.size === "small"),
    refused: refusal !== undefined,
    conversationId: request.conversationId ?? null,
    title: titleOf(prompt),
    prompt,
    requestsPerMinute: entitlement.requestsPerMinute,
    concurrentAnswers: entitlement.concurrentAnswers,
    owner: answers.owner,
    leaseMs: answers.timings.leaseMs,
    holdMs: answers.timings.holdMs,
    now: deps.clock.now(),
  };
  const result = await answers.batches.start(row);
  if (result.outcome === "known" || result.outcome === "conflict") {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
  }
  if (result.outcome === "refused" && refusal) throw refusal;
  if (result.outcome !== "created" || !result.conversation_id) throw refusalOf(result, credits);
  return answers.begin({ ...start, askedAtMs, row, conversationId: result.conversation_id, model, messages, heldCredits: credits });
}

async function readOwn(executor: Executor, userId: string, id: string) {
  const row = await queries.selectGeneration(executor, userId, id);
  if (!row) throw new DomainError("not_found", "There is no such answer");
  return row;
}

export async function readReceipt(executor: Executor, userId: string, id: string): Promise<Receipt> {
  return toReceipt(await readOwn(executor, userId, id));
}

/** The answer's events after number `after`. Throws `not_found` for another person's, `answer_gone` when they are no longer kept. */
export async function followAnswer(deps: Deps, answers: Answers, userId: string, id: string, after: number): Promise<Feed> {
  // By the row's own id: a UUID may be written in capitals too.
  return replay(deps, answers, await readOwn(deps.db, userId, id), after);
}

/** Stops the answer, in whichever process it runs, and returns its receipt: still streaming if it does not end within 5 s. */
export async function stopAnswer(deps: Deps, answers: Answers, userId: string, id: string): Promise<Receipt> {
  const row = await readOwn(deps.db, userId, id);
  if (row.status !== "streaming") return toReceipt(row);
  await queries.setStopRequested(deps.db, userId, row.id);
  answers.stop(row.id);
  await (await answers.follow(row.id)).untilClosed(stopWaitMs);
  return readReceipt(deps.db, userId, id);
}

/** The answers still under way in a conversation, none of which ends before the transaction does. */
export async function lockAnswersIn(trx: Trx, userId: string, conversationId: string): Promise<string[]> {
  return queries.lockRunningOf(trx, userId, conversationId);
}

/** The receipts of these answers by id, and the ids of those still under way. Whose they are is for the caller to know. */
export async function readReceipts(executor: Executor, ids: readonly string[]): Promise<Map<string, Receipt>> {
  if (ids.length === 0) return new Map();
  return new Map((await queries.selectGenerations(executor, ids)).map((row) => [row.id, toReceipt(row)]));
}
