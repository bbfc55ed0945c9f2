/** Fetches a finished clip from its provider into the file storage, with limits on its size and time. */
import { clipLimits } from "#domain/clips.ts";
import type { Model } from "#domain/models.ts";
import type { ClipPart } from "../../contract/generations/media.ts";
import type { Deps } from "../../deps.ts";
import { ModelOutage } from "../../providers/models/protocol.ts";
import { storeFile } from "../files/service.ts";
import { ClipCheck } from "./clip-file.ts";
import { outputName, shortened } from "./outputs.ts";

export interface DownloadTimings {
  /** How long no byte may come. */
  idleMs: number;
  totalMs: number;
}

const mostBytes = clipLimits.megabytes * 1024 * 1024;

/** Ends with an error when it has too many bytes, or none come for too long. */
async function* bounded(response: Response, idle: () => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    idle();
    bytes += chunk.length;
    if (bytes > mostBytes) throw new ModelOutage("provider_garbage", "the file of a clip is too large");
    yield chunk;
  }
}

export interface Download {
  model: Model;
  url: string;
  userId: string;
  generationId: string;
  prompt: string;
}

/** Throws a ModelOutage for what is no whole clip, `ClipLost` for an address that has ended, and `generation_ended` if nobody wants it any more. */
export async function downloadClip(deps: Deps, download: Download, timings: DownloadTimings, stopping: AbortSignal): Promise<ClipPart> {
  const { model, url, userId, generationId, prompt } = download;
  const patience = new AbortController();
  let late = false;
  const giveUp = () => {
    late = true;
    patience.abort();
  };
  const total = setTimeout(giveUp, timings.totalMs);
  const idle = setTimeout(giveUp, timings.idleMs);
  const check = new ClipCheck();
  try {
    const response = await deps.models.fetchClip(model, url, AbortSignal.any([stopping, patience.signal]));
    const told = Number(response.headers.get("content-length") ?? 0);
    if (told > mostBytes) {
      await response.body?.cancel();
      throw new ModelOutage("provider_garbage", "the file of a clip is too large");
    }
    const file = { userId, generationId, kind: "output", name: outputName(prompt), measure: () => check.finish() } as const;
    const content = check.pass(bounded(response, () => idle.refresh()));
    const { id, width, height, durationMs } = await storeFile(deps, file, content);
    const alternative = shortened(prompt, clipLimits.alternative);
    return { kind: "clip", fileId: id, width: width ?? 0, height: height ?? 0, durationMs: durationMs ?? 0, alternative };
  } catch (error) {
    throw late ? new ModelOutage("provider_timeout", "the file of a clip did not arrive in time") : error;
  } finally {
    clearTimeout(total);
    clearTimeout(idle);
  }
}
