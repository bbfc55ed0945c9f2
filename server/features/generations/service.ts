/** What a person does with answers: ask, follow, stop, read the receipt. */
import { v7 as uuidv7 } from "uuid";
import { DomainError } from "#domain/errors.ts";
import { isInTrial } from "#domain/models.ts";
import type { Answer, CreateGeneration, Part, Receipt } from "../../contract/generations/generations.ts";
import type { Db } from "../../db/database.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { Feed } from "../../http/event-stream.ts";
import { announce } from "../../http/live-events.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import type { SharedHold } from "../credits/holds.ts";
import { holdForSeveral } from "../credits/holds.ts";
import { fromStoredOptions, selectReading } from "./answer-options.ts";
import type { Answers } from "./answers.ts";
import { startLarge } from "./batches.ts";
import { endClip } from "./clip-end.ts";
import { trimHistory } from "./history.ts";
import { inputBytes, takeRoom } from "./input-room.ts";
import * as queries from "./queries.ts";
import { toReceipt } from "./receipt.ts";
import { findUnconfirmed, keyConflict, noPlace, refusalOf, unavailable } from "./refusals.ts";
import { replay } from "./replay.ts";
import type { Ask, Wanted } from "./requests.ts";
import { findKnown, findRefusal, hashOf, mediaTerms, readRequest, termsOf } from "./requests.ts";
import type { AnswerStart } from "./running-answer.ts";
import { measure, planOf } from "./wanted.ts";

/** How long a stop waits for the receipt. */
const stopWaitMs = 5_000;

/**
 * Holds the price, stores the question and calls the model; returns the answer's events. The same key with the same content
 * returns the events of the same answer again. Throws refusals as DomainErrors. They count towards the person's rate, but for what the
 * request alone tells (`readRequest`) and the question about a price, because the person has sent nothing until they answer it.
 */
export async function startAnswer(deps: Deps, answers: Answers, ask: Ask, entitlement: Entitlement): Promise<Feed> {
  const { request, userId } = ask;
  const read = readRequest(deps, request);
  const requestHash = hashOf(request, read.prompt);
  const measured = await measure(deps, userId, request, read).catch(async (error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    // A send that is repeated gets its answer, also if what it was about is gone.
    return (await findKnown(deps.db, ask, requestHash)) ?? error;
  });
  if ("idempotency_key" in measured) return replay(deps, answers, measured, 0);
  if (answers.closing) {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
    throw unavailable();
  }
  const wanted = measured instanceof DomainError ? read : measured;
  const refused = measured instanceof DomainError ? measured : await findRefusal(deps, ask, wanted, entitlement);
  const unconfirmed = refused ? undefined : findUnconfirmed(entitlement, wanted.credits, request.confirmed);
  if (unconfirmed) {
    const known = await findKnown(deps.db, ask, requestHash);
    if (known) return replay(deps, answers, known, 0);
    throw unconfirmed;
  }
  return writeStart(deps, answers, { ask, wanted, requestHash, entitlement, refused });
}

interface Checked {
  ask: Ask;
  wanted: Wanted;
  requestHash: Buffer;
  entitlement: Entitlement;
  refused: DomainError | undefined;
}

/** Writes what was asked for, or counts its refusal. */
async function writeStart(deps: Deps, answers: Answers, { ask, wanted, requestHash, entitlement, refused }: Checked): Promise<Feed> {
  const { request, userId } = ask;
  const { model, options, credits } = wanted;
  let leaveRoom: (() => void) | undefined;
  let begun = false;
  try {
    const planned = refused ? undefined : ((await planOf(deps, userId, request, wanted)) ?? noPlace());
    const room = !planned || planned instanceof DomainError ? undefined : takeRoom(model, inputBytes(model, planned.messages, wanted));
    if (typeof room === "function") leaveRoom = room;
    const refusal = [refused, planned, room].find((each) => each instanceof DomainError);
    const plan = refusal || !planned || planned instanceof DomainError ? undefined : planned;
    const { turn, messages, trimmedMessages: leftOut } = plan ?? { turn: null, messages: [], trimmedMessages: 0 };
    // Models for pictures, clips and sounds get the prompt alone, so no messages were left out because they did not fit.
    const start = { id: uuidv7(), userId, trimmedMessages: options ? 0 : leftOut };
    const askedAtMs = performance.now();
    const row = {
      ...start,
      modelId: model.id,
      idempotencyKey: ask.idempotencyKey,
      requestHash,
      credits,
      priceVersion: wanted.priceVersion,
      kinds: entitlement.kinds(isInTrial(model)),
      refused: refusal !== undefined,
      holdId: null,
      turn,
      ...termsOf(deps, answers, entitlement),
      ...mediaTerms(wanted, messages),
    };
    const result = await answers.batches.start(row);
    if (result.outcome === "known" || result.outcome === "conflict") {
      const known = await findKnown(deps.db, ask, requestHash);
      if (known) return replay(deps, answers, known, 0);
    }
    if (result.outcome === "refused" && refusal) throw refusal;
    if (result.outcome !== "created") throw refusalOf(result, credits);
    if (options?.clip) return followNewClip(deps, answers, userId, start.id);
    begun = true;
    return answers.begin({ ...start, askedAtMs, row, model, messages, heldCredits: credits, ...(leaveRoom && { leaveRoom }) });
  } finally {
    if (!begun) leaveRoom?.();
  }
}

async function followNewClip(deps: Deps, answers: Answers, userId: string, id: string): Promise<Feed> {
  void announce(deps, userId, "wallets", "generations");
  return answers.follow(id);
}

/** Writes all starts under one hold and returns undefined. If one is refused it writes nothing and returns the reason. */
async function writeTogether(db: Db, hold: SharedHold, starts: readonly AnswerStart[]): Promise<DomainError | undefined> {
  try {
    await inTransaction(db, async (trx) => {
      await holdForSeveral(trx, hold);
      for (const { row } of starts) {
        const result = await startLarge(trx, row);
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
  request: Pick<CreateGeneration, "model" | "prompt" | "quotedCredits" | "confirmed" | "picture" | "clip">;
}

/**
 * Asks several questions at once, none of which belongs to a conversation: the columns of a comparison, or the steps of a job. One hold
 * reserves the sum of their prices, and each answer settles its share when it ends. Either all are started or none. Throws refusals, which
 * count towards the rate as in `startAnswer`. The same keys with the same content return the same answers again.
 */
export async function startTogether(deps: Deps, answers: Answers, userId: string, asks: readonly LoneAsk[]) {
  const questions = await Promise.all(
    asks.map(async (each) => {
      const ask: Ask = { ...each, userId };
      const wanted = await measure(deps, userId, ask.request, readRequest(deps, ask.request));
      return { ask, ...wanted, wanted, prompt: wanted.prompt ?? "", requestHash: hashOf(ask.request, wanted.prompt) };
    }),
  );
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
  const starts = questions.map(({ ask: { idempotencyKey }, wanted, model, prompt, credits, requestHash }): AnswerStart => {
    const { messages, trimmedMessages } = trimHistory([], 0, { content: prompt });
    const own = { id: uuidv7(), userId, trimmedMessages };
    const asked = { modelId: model.id, idempotencyKey, requestHash, credits, priceVersion: wanted.priceVersion };
    const row = { ...own, ...asked, kinds, refused: false, holdId, turn: null, ...terms, ...mediaTerms(wanted, messages) };
    return { ...own, askedAtMs, row, model, messages, heldCredits: credits };
  });
  const refusals = await Promise.all(questions.map(({ ask, wanted }) => findRefusal(deps, ask, wanted, entitlement)));
  const credits = starts.reduce((sum, { heldCredits }) => sum + heldCredits, 0);
  const holdMs = Math.max(...starts.map(({ row }) => row.holdMs));
  const hold = { holdId, userId, credits, kinds, holdMs, now: terms.now };
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
  return Promise.all(
    starts.map(async (start) => ({
      id: start.id,
      feed: start.row.options?.clip ? await followNewClip(deps, answers, userId, start.id) : answers.begin(start),
    })),
  );
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

/** The same, for somebody else than its person. Throws `answer_gone` if its text was deleted. */
export async function readKept(executor: Executor, userId: string, id: string): Promise<Answer> {
  const { erased_at: erasedAt } = await readOwn(executor, userId, id);
  if (erasedAt !== null) throw new DomainError("answer_gone", "The text of this answer was deleted");
  return readAnswer(executor, userId, id);
}

/** The latest answer in which this one was read aloud, unless that failed. Throws `not_found` for another person's answer. */
export async function readSound(executor: Executor, userId: string, id: string): Promise<Answer | null> {
  const { id: readId } = await readOwn(executor, userId, id);
  const latest = await selectReading(executor, userId, readId);
  return latest === undefined ? null : readAnswer(executor, userId, latest);
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
  if (fromStoredOptions(row.options).clip) {
    // Once its provider has begun, a clip is not stopped: it is billed to us anyway, and the person gets it when it is finished.
    await endClip(deps, row.id, null, { status: "stopped", failureCode: null, clip: null, costMicroDollars: null });
    return toReceipt(await readOwn(deps.db, userId, row.id));
  }
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
