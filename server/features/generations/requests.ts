/** What a request asks for, what it costs, and whether it is refused before anything is written. */
import { createHash } from "node:crypto";
import { clipLimits, usualClip } from "#domain/clips.ts";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { isInTrial } from "#domain/models.ts";
import { usualPicture } from "#domain/pictures.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { checkPrompt, ruleMessages } from "#domain/rules.ts";
import type { CreateGeneration } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { GenerationRow } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import { findRetirement, isAvailable, priced, priceOf, soldModel } from "../catalogue/service.ts";
import { availableCredits } from "../credits/service.ts";
import { assertRoom } from "../files/service.ts";
import type { AnswerOptions } from "./answer-options.ts";
import type { Answers } from "./answers.ts";
import type { ChatMessage } from "./history.ts";
import { findTooLong } from "./history.ts";
import * as queries from "./queries.ts";
import { checkReferences } from "./references.ts";
import { keyConflict, notInTrial, outOfOrder } from "./refusals.ts";

export interface Ask {
  userId: string;
  idempotencyKey: string;
  request: CreateGeneration;
}

/** Absent fields are left out of the hash, so that it is the same as in earlier releases, which did not have these fields. */
export function hashOf(asked: CreateGeneration, prompt: string | null): Buffer {
  const { model, conversationId, quotedCredits, parentId, questionId, picture, attachments, clip, speech, reads, dictated } = asked;
  const place = parentId === undefined && questionId === undefined && !picture ? [] : [parentId ?? null, questionId ?? null];
  const more: object[] = [...(picture ? [picture] : []), ...(attachments ? [{ attachments }] : []), ...(clip ? [{ clip }] : [])];
  if (speech || reads || dictated) more.push({ speech, reads, dictated });
  const content = JSON.stringify([model, prompt, conversationId ?? null, quotedCredits, ...place, ...more]);
  return createHash("sha256").update(content).digest();
}

export interface Wanted {
  model: Model;
  /** The prompt that we store; null if a question is asked again. */
  prompt: string | null;
  /** Undefined for a model that answers with words about words. */
  options: AnswerOptions | undefined;
  /** The size of the recording that is to be written down. */
  recordingBytes?: number;
  /** What it costs today. */
  credits: number;
  /** The version of the prices by which it is sold. */
  priceVersion: string;
}

/** What is asked for beside words, and can be told without looking anything up. Each model is asked for its own. */
function readOptions({ name, unit }: Model, request: CreateGeneration): AnswerOptions | undefined {
  const refuse = (field: string, message: string): never => {
    throw new ValidationError([{ field, message: `${name} ${message}` }]);
  };
  if (request.picture && unit !== "image") refuse("picture", "makes no pictures");
  if (request.clip && unit !== "clip") refuse("clip", "makes no clips");
  if ((request.speech || request.reads !== undefined) && unit !== "thousand_characters") refuse("speech", "does not read aloud");
  if (request.dictated && unit !== "minute") refuse("dictated", "writes nothing down");
  if (unit === "image") return { picture: request.picture ?? usualPicture };
  return unit === "clip" ? { clip: request.clip ?? usualClip } : undefined;
}

/** What can be told without looking anything up. */
export function readRequest(deps: Deps, request: CreateGeneration): Wanted {
  const repeats = request.prompt === undefined && (request.questionId !== undefined || request.reads !== undefined);
  const fault = repeats ? undefined : checkPrompt(request.prompt ?? "");
  if (fault) throw new ValidationError([{ field: "prompt", message: fault }]);
  if (!repeats && request.questionId !== undefined)
    throw new ValidationError([{ field: "questionId", message: "A question is either new or asked again" }]);
  if (request.model.trim() === "") throw new ValidationError([{ field: "model", message: ruleMessages.modelMissing }]);
  const sold = soldModel(deps, request.model);
  if (!sold) throw new DomainError("unknown_model", "There is no such model");
  const model = priced(deps, sold);
  const options = readOptions(model, request);
  const credits = quoteCredits(model, { images: options?.picture?.count ?? 1 });
  return { model, prompt: request.prompt?.trim() ?? null, options, credits, priceVersion: priceOf(deps, sold).version };
}

/** Returns the reason to refuse the question, if there is one that does not depend on the person's other questions. */
export async function findRefusal(deps: Deps, ask: Ask, wanted: Wanted, entitlement: Entitlement): Promise<DomainError | undefined> {
  const { model, credits: quotedCredits, options } = wanted;
  if (!deps.settings.current.answers) return new DomainError("answers_paused", "No questions are taken at the moment. Try again later");
  const retirement = findRetirement(deps, model);
  if (retirement) return retirement;
  const tooLong = wanted.prompt === null ? undefined : findTooLong(model, wanted.prompt);
  if (tooLong) return tooLong;
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
  return options && findMediaRefusal(deps, ask.userId, options);
}

/** What becomes a file needs room; pictures and clips also those pictures that they begin from. */
async function findMediaRefusal(deps: Deps, userId: string, { picture, clip, speech }: AnswerOptions): Promise<DomainError | undefined> {
  try {
    if (picture) await checkReferences(deps.db, userId, picture);
    if (clip?.reference !== undefined) await checkReferences(deps.db, userId, { references: [clip.reference] });
    if (picture || clip || speech) await assertRoom(deps, userId);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
}

/** Returns the answer that the key started before, even if a new question would be refused now. */
export async function findKnown(executor: Executor, ask: Ask, requestHash: Buffer): Promise<GenerationRow | undefined> {
  const known = await queries.selectByKey(executor, ask.userId, ask.idempotencyKey);
  if (!known) return undefined;
  // The hash of a deleted answer is gone, so its content can't be compared.
  if (known.erased_at === null && !known.request_hash.equals(requestHash)) throw keyConflict();
  return known;
}

/** The fields that all starts of one request have in common. */
export function termsOf(deps: Deps, { owner, timings }: Answers, { requestsPerMinute, concurrentAnswers }: Entitlement) {
  const { leaseMs, holdMs } = timings;
  return { requestsPerMinute, concurrentAnswers, owner, leaseMs, holdMs, now: deps.clock.now() };
}

const minuteMs = 60_000;
/** Longer than a clip may take in all. */
const clipHoldMs = (clipLimits.queueMinutes + clipLimits.workMinutes + 10) * minuteMs;

/**
 * What is asked for beside words. A clip is looked after by a worker: no process has a lease on its answer, and its credits stay held for as
 * long as it may take.
 */
export function mediaTerms({ options }: Pick<Wanted, "options">, messages: readonly ChatMessage[]) {
  if (options?.clip) return { options, prompt: messages.at(-1)?.content ?? "", leaseMs: 0, holdMs: clipHoldMs };
  return options ? { options } : {};
}
