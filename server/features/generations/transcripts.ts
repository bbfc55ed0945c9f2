/** Answers that are transcripts: the recording goes to the model as it was uploaded, and what was said comes back as a text. */
import { buffer } from "node:stream/consumers";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { unitCostMicroDollars } from "#domain/provider-prices.ts";
import { recordingSecondsOf } from "#domain/transcripts.ts";
import type { CreateGeneration } from "../../contract/generations/generations.ts";
import type { RecordingReceipt } from "../../contract/generations/sounds.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { findAttachable, openFile } from "../files/service.ts";
import { selectQuestion } from "./branches.ts";
import type { RunningAnswer } from "./running-answer.ts";
import type { UpstreamEnd, UpstreamTimings } from "./upstream.ts";
import { askModel, nothingMade } from "./upstream.ts";

function missing(): DomainError {
  return new DomainError("recording_missing", "This model writes down one recording. Record something, or choose a file");
}

export interface FoundRecording {
  recording: RecordingReceipt;
  bytes: number;
}

function tooLong({ name }: Model, seconds: number): DomainError {
  const minutes = seconds / 60;
  return new DomainError("recording_too_long", `${name} takes recordings of up to ${minutes} minutes`, { minutes });
}

/** The recording of the request, or of the question that is asked again. Its length, and so the price, was measured when it was uploaded. */
export async function findRecording(executor: Executor, userId: string, request: CreateGeneration, model: Model): Promise<FoundRecording> {
  const { attachments = [], conversationId, questionId, dictated } = request;
  const found = async () => {
    if (conversationId !== undefined && questionId !== undefined) {
      const asked = await selectQuestion(executor, { conversationId, userId, questionId });
      return (asked?.attachments ?? []).map(({ fileId, durationMs, bytes }) => ({ fileId, durationMs, bytes }));
    }
    if (attachments.length === 0) return [];
    const files = await findAttachable(executor, userId, conversationId, attachments);
    return [...files.values()].map(({ id, durationMs, bytes }) => ({ fileId: id, durationMs, bytes }));
  };
  const [recording, ...others] = await found();
  if (!recording?.durationMs || others.length > 0) throw missing();
  const { fileId, durationMs, bytes } = recording;
  const seconds = recordingSecondsOf(model);
  if (durationMs > seconds * 1_000) throw tooLong(model, seconds);
  return { recording: { fileId, durationMs, ...(dictated && { dictated }) }, bytes };
}

/** Providers are charged by the second. */
function costOf(model: Model, { durationMs }: RecordingReceipt, now: Date): number | null {
  return unitCostMicroDollars(model, durationMs / 60_000, now);
}

/** Never throws. */
export async function transcribe(
  deps: Deps,
  answer: RunningAnswer,
  recording: RecordingReceipt,
  timings: UpstreamTimings,
): Promise<UpstreamEnd> {
  const { model, messages, userId, row } = answer.start;
  const load = async () => {
    const { content, info } = await openFile(deps, userId, recording.fileId);
    return { bytes: await buffer(content), name: info.name, mediaType: info.contentType, durationMs: recording.durationMs };
  };
  try {
    const loaded = await load();
    const end = await askModel(deps.models, {
      ...{ model, personId: userId, messages, recording: loaded, timings, signal: answer.controller.signal },
      onText: (text) => answer.add(text),
      onSources: () => {},
      onSegments: (segments) => answer.addSegments(segments),
    });
    return { ...end, costMicroDollars: end.concluded ? costOf(model, recording, row.now) : null };
  } catch (error) {
    // Only loading it can fail.
    return { ...nothingMade, failure: "recording_unreadable", error };
  }
}
