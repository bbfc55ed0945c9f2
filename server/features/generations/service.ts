/** What a person does with answers: ask, follow, stop, read the receipt. */
import { createHash } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { isBuilt, isInTrial } from "#domain/models.ts";
import { usualPicture } from "#domain/pictures.ts";
import { priceVersion, quoteCredits } from "#domain/pricing.ts";
import { checkPrompt, ruleMessages } from "#domain/rules.ts";
import type { Answer, CreateGeneration, Part, PictureOptions, Receipt } from "../../contract/generations.ts";
import type { Db } from "../../db/database.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import type { Feed } from "../../http/event-stream.ts";
import { ValidationError } from "../../http/problem.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import { findRetirement, isAvailable, soldModel } from "../catalogue/service.ts";
import type { SharedHold } from "../credits/holds.ts";
import { holdForSeveral } from "../credits/holds.ts";
import { availableCredits } from "../credits/service.ts";
import { assertRoom } from "../files/service.ts";
import type { Answers } from "./answers.ts";
import { trimHistory } from "./history.ts";
import * as queries from "./queries.ts";
import { toReceipt } from "./receipt.ts";
import { checkReferences } from "./references.ts";
import { findUnconfirmed, keyConflict, noPlace, notInTrial, outOfOrder, refusalOf, unavailable } from "./refusals.ts";
import { replay } from "./replay.ts";
import type { AnswerStart } from "./running-answer.ts";
import { planTurn } from "./turns.ts";

export interface Ask {
  userId: string;
  idempotencyKey: string;
  request: CreateGeneration;
}

/** How long a stop waits for the receipt. */
const stopWaitMs = 5_000;

/** Absent fields are left out of the hash, so that it is the same as in earlier releases, which did not have these fields. */
function hashOf(asked: CreateGeneration, prompt: string | null): Buffer {
  const { model, conversationId, quotedCredits, parentId, questionId, picture, attachments } = asked;
  const place = parentId === undefined && questionId === undefined && !picture ? [] : [parentId ?? null, questionId ?? null];
  const more = [...(picture ? [picture] : []), ...(attachments ? [{ attachments }] : [])];
  const content = JSON.stringify([model, prompt, conversationId ?? null, quotedCredits, ...place, ...more]);
  return createHash("sha256").update(content).digest();
}

interface Wanted {
  model: Model;
  /** As we store it; null if a question is asked again. */
  prompt: string | null;
  /** Undefined for a model that makes no pictures. */
  picture: PictureOptions | undefined;
  /** What it costs today. */
  credits: number;
}

function readRequest(deps: Deps, request: CreateGeneration): Wanted {
  const repeats = request.prompt === undefined && request.questionId !== undefined;
  const fault = repeats ? undefined : checkPrompt(request.prompt ?? "");
  if (fault) throw new ValidationError([{ field: "prompt", message: fault }]);
  if (!repeats && request.questionId !== undefined)
    throw new ValidationError([{ field: "questionId", message: "A question is either new or asked again" }]);
  if (request.model.trim() === "") throw new ValidationError([{ field: "model", message: ruleMessages.modelMissing }]);
  const model = soldModel(deps, request.model);
  if (!model) throw new DomainError("unknown_model", "There is no such model");
  if (!isBuilt(model) && !findRetirement(deps, model)) throw new DomainError("model_not_supported", `${model.name} can't be used yet`);
  const picture = model.unit === "image" ? (request.picture ?? usualPicture) : undefined;
  if (request.picture && !picture) throw new ValidationError([{ field: "picture", message: `${model.name} makes no pictures` }]);
  return { model, prompt: request.prompt?.trim() ?? null, picture, credits: quoteCredits(model, { images: picture?.count ?? 1 }) };
}

/** Returns the reason to refuse the question, if there is one that does not depend on the person's other questions. */
async function findRefusal(deps: Deps, ask: Ask, wanted: Wanted, entitlement: Entitlement): Promise<DomainError | undefined> {
  const { model, credits: quotedCredits, picture } = wanted;
  const retirement = findRetirement(deps, model);
  if (retirement) return retirement;
  if (!isAvailable(deps, model)) return new DomainError("model_unavailable", `${model.name} is temporarily unavailable. Try again later`);
  const covered = entitlement.tier !== "none" || (entitlement.trialEndsAt !== null && isInTrial(model));
  if (!covered && (await availableCredits(deps.db, ask.userId, entitlement.kinds(isInTrial(model)), deps.clock.now())) === 0)
    return entitlement.subscribed
      ? notInTrial(model)
      : new DomainError("subscription_required", `${model.name} needs an active subscription`);
  if (ask.request.quotedCredits !== quotedCredits)
    return new DomainError("price_changed", `The price is now ${quotedCredits} credits`, { quotedCredits });
  const waitMs = deps.models.waitMs(model, ask.userId);
  if (waitMs > 0) return outOfOrder(model, waitMs);
  return picture && findPictureRefusal(deps, ask.userId, picture);
}

/** Pictures need room, and those that they begin from. */
async function findPictureRefusal(deps: Deps, userId: string, picture: PictureOptions): Promise<DomainError | undefined> {
  try {
    await checkReferences(deps.db, userId, picture);
    await assertRoom(deps, userId);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** Returns the answer that the key started before, even if a new question would be refused now. */
async function findKnown(executor: Executor, ask: Ask, requestHash: Buffer): Promise<GenerationRow | undefined> {
  const known = await queries.selectByKey(executor, ask.userId, ask.idempotencyKey);
  if (!known) return undefined;
  // The hash of a deleted answer is gone, so its content can't be compared.
  if (known.erased_at === null && !known.request_hash.equals(requestHash)) throw keyConflict();
  return known;
}

/** The fields that all starts of one request have in common. */
function termsOf(deps: Deps, { owner, timings }: Answers, { requestsPerMinute, concurrentAnswers }: Entitlement) {
  const { leaseMs, holdMs } = timings;
  return { priceVersion, requestsPerMinute, concurrentAnswers, owner, leaseMs, holdMs, now: deps.clock.now() };
}

/**
 * Holds the price, stores the question and calls the model; returns the answer's events. The same key with the same content
 * returns the events of the same answer again. Throws refusals as DomainErrors; they count towards the person's rate, but for the question
 * about a price, because the person has sent nothing until they answer it.
 */
export async function startAnswer(deps: Deps, answers: Answers, ask: Ask, entitlement: Entitlement): Promise<Feed> {
  const { request, userId } = ask;
  const wanted = readRequest(deps, request);
  const { model, prompt, picture, credits } = wanted;
  const requestHash = hashOf(request, prompt);
  if (answers.closing) {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
    throw unavailable();
  }
  const refused = await findRefusal(deps, ask, wanted, entitlement);
  const unconfirmed = refused ? undefined : findUnconfirmed(entitlement, credits, request.confirmed);
  if (unconfirmed) {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
    throw unconfirmed;
  }
  const planned = refused ? undefined : await planTurn(deps.db, userId, request, prompt, model);
  const plan = planned instanceof DomainError ? undefined : planned;
  const refusal = refused ?? (planned instanceof DomainError ? planned : plan ? undefined : noPlace());
  const { turn = null, messages = [] } = plan ?? {};
  // A model that makes pictures gets the prompt alone, so nothing of a conversation was left out for want of room.
  const trimmedMessages = picture ? 0 : (plan?.trimmedMessages ?? 0);
  const start = { id: uuidv7(), userId, trimmedMessages };
  const askedAtMs = performance.now();
  const row = {
    ...start,
    modelId: model.id,
    idempotencyKey: ask.idempotencyKey,
    requestHash,
    credits,
    kinds: entitlement.kinds(isInTrial(model)),
    refused: refusal !== undefined,
    holdId: null,
    turn,
    ...(picture && { picture }),
    ...termsOf(deps, answers, entitlement),
  };
  const result = await answers.batches.start(row);
  if (result.outcome === "known" || result.outcome === "conflict") {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
  }
  if (result.outcome === "refused" && refusal) throw refusal;
  if (result.outcome !== "created") throw refusalOf(result, credits);
  return answers.begin({ ...start, askedAtMs, row, model, messages, heldCredits: credits });
}

/** Writes all starts under one hold and returns undefined. If one is refused it writes nothing and returns the reason. */
async function writeTogether(db: Db, hold: SharedHold, starts: readonly AnswerStart[]): Promise<DomainError | undefined> {
  try {
    await inTransaction(db, async (trx) => {
      await holdForSeveral(trx, hold);
      for (const { row } of starts) {
        const result = await queries.callStart(trx, row);
        if (result.outcome === "known") throw keyConflict();
        if (result.outcome !== "created") throw refusalOf(result, row.credits);
      }
    });
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** A question that belongs to no conversation. */
export interface LoneAsk {
  idempotencyKey: string;
  request: Pick<CreateGeneration, "model" | "prompt" | "quotedCredits" | "confirmed" | "picture">;
}

/**
 * Asks several questions at once, none of which belongs to a conversation: the columns of a comparison, or the steps of a job. One hold
 * reserves the sum of their prices, and each answer settles its share when it ends. Either all are started or none. Throws refusals, which
 * count towards the rate as in `startAnswer`. The same keys with the same content return the same answers again.
 */
export async function startTogether(deps: Deps, answers: Answers, userId: string, asks: readonly LoneAsk[]) {
  const questions = asks.map((each) => {
    const ask: Ask = { ...each, userId };
    const wanted = readRequest(deps, ask.request);
    return { ask, ...wanted, wanted, prompt: wanted.prompt ?? "", requestHash: hashOf(ask.request, wanted.prompt) };
  });
  const known = (await Promise.all(questions.map(({ ask, requestHash }) => findKnown(deps.db, ask, requestHash)))).filter(
    (row) => row !== undefined,
  );
  if (known.length > 0 && known.length < asks.length) throw keyConflict();
  if (known.length > 0) return Promise.all(known.map(async (row) => ({ id: row.id, feed: await replay(deps, answers, row, 0) })));
  if (answers.closing) throw unavailable();

  const holdId = uuidv7();
  const entitlement = await answers.batches.entitlement(userId, deps.clock.now());
  const terms = termsOf(deps, answers, entitlement);
  const kinds = entitlement.kinds(questions.every(({ model }) => isInTrial(model)));
  const askedAtMs = performance.now();
  const starts = questions.map(({ ask: { idempotencyKey }, model, prompt, picture, credits, requestHash }): AnswerStart => {
    const { messages, trimmedMessages } = trimHistory([], 0, prompt);
    const own = { id: uuidv7(), userId, trimmedMessages };
    const asked = { modelId: model.id, idempotencyKey, requestHash, credits, ...(picture && { picture }) };
    const row = { ...own, ...asked, kinds, refused: false, holdId, turn: null, ...terms };
    return { ...own, askedAtMs, row, model, messages, heldCredits: credits };
  });
  const refusals = await Promise.all(questions.map(({ ask, wanted }) => findRefusal(deps, ask, wanted, entitlement)));
  const credits = starts.reduce((sum, { heldCredits }) => sum + heldCredits, 0);
  const hold = { holdId, userId, credits, kinds, holdMs: terms.holdMs, now: terms.now };
  const confirmed = asks.every(({ request }) => request.confirmed);
  const barred = refusals.find((refusal) => refusal !== undefined);
  const unconfirmed = barred ? undefined : findUnconfirmed(entitlement, credits, confirmed);
  if (unconfirmed) throw unconfirmed;
  const refused = barred ?? (await writeTogether(deps.db, hold, starts));
  const [first] = starts;
  if (refused && first) {
    // The refused starts were not written, so we count the refusal here.
    const counted = await answers.batches.start({ ...first.row, holdId: null, refused: true });
    throw counted.outcome === "rate_limited" ? refusalOf(counted, credits) : refused;
  }
  return starts.map((start) => ({ id: start.id, feed: answers.begin(start) }));
}

async function readOwn(executor: Executor, userId: string, id: string) {
  const row = await queries.selectGeneration(executor, userId, id);
  if (!row) throw new DomainError("not_found", "There is no such answer");
  return row;
}

/** Returns the receipt with the answer's output. */
export async function readAnswer(executor: Executor, userId: string, id: string): Promise<Answer> {
  const row = await readOwn(executor, userId, id);
  return { ...toReceipt(row), parts: (await queries.selectParts(executor, [row.id])).get(row.id) ?? [] };
}

/** Returns the answer's events after number `after`. Throws `not_found` for another person's answer, and `answer_gone` (replay.ts). */
export async function followAnswer(deps: Deps, answers: Answers, userId: string, id: string, after: number): Promise<Feed> {
  // Uses the row's own id, because the request may write the UUID in capitals.
  return replay(deps, answers, await readOwn(deps.db, userId, id), after);
}

/** Stops the answer, in whichever process it runs, and returns its receipt. If it does not end within 5 s, the receipt says `streaming`. */
export async function stopAnswer(deps: Deps, answers: Answers, userId: string, id: string): Promise<Receipt> {
  const row = await readOwn(deps.db, userId, id);
  if (row.status !== "streaming") return toReceipt(row);
  await queries.setStopRequested(deps.db, userId, row.id);
  answers.stop(row.id);
  await (await answers.follow(row.id)).untilClosed(stopWaitMs);
  return toReceipt(await readOwn(deps.db, userId, id));
}

/**
 * Asks all of the person's running answers to stop, in whichever process they run. Pass the ids to `answers.stop` after the commit: those that
 * run here stop without the others' delay.
 */
export async function stopAnswersOf(trx: Trx, userId: string): Promise<string[]> {
  return queries.requestStops(trx, userId);
}

/** Locks the running answers of a conversation, so that none of them ends before the transaction does. Returns their ids. */
export async function lockAnswersIn(trx: Trx, userId: string, conversationId: string): Promise<string[]> {
  return queries.lockRunningOf(trx, userId, conversationId);
}

/** Returns the receipts and outputs of these answers by id. The caller has checked that the answers belong to the reader. */
export async function readAnswers(executor: Executor, ids: readonly string[]): Promise<Map<string, { receipt: Receipt; parts: Part[] }>> {
  if (ids.length === 0) return new Map();
  const parts = await queries.selectParts(executor, ids);
  const rows = await queries.selectGenerations(executor, ids);
  return new Map(rows.map((row) => [row.id, { receipt: toReceipt(row), parts: parts.get(row.id) ?? [] }]));
}
