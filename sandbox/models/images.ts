/** Pictures on their way to their caller: streamed with what they look like so far, or as one JSON object. */
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCall } from "./calls.ts";
import type { ModelFault } from "./faults.ts";
import type { PictureRequest } from "./images-request.ts";
import type { Painting } from "./painting.ts";
import { paint, paintOver } from "./painting.ts";

export interface PictureDelivery {
  response: ServerResponse;
  asked: PictureRequest;
  variation: number;
  fault: ModelFault | undefined;
  /** Milliseconds per token; a stage of a picture takes as long as a few words. */
  paceMs: () => number;
  call: ModelCall;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

const tokensPerStage = 40;
const noticeMs = 25;
/** What a picture of 1024 by 1024 pixels takes, and what each preview adds. */
const tokensOfQuality = { low: 200, medium: 430, high: 1_770 } as const;
const tokensOfPreview = 100;

/** Waits for a stage. A change of the pace is noticed soon. */
async function stage(paceMs: () => number, signal: AbortSignal): Promise<void> {
  const begunAt = performance.now();
  while (!signal.aborted && performance.now() - begunAt < paceMs() * tokensPerStage)
    await sleep(noticeMs, undefined, { signal }).catch(() => undefined);
}

function untilGone(signal: AbortSignal): Promise<void> {
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function outputTokens({ width, height, quality }: PictureRequest): number {
  return Math.ceil((tokensOfQuality[quality] * width * height) / (1024 * 1024));
}

function usageOf(asked: PictureRequest, count: number, previews: number): object {
  const output = outputTokens(asked) * count + previews * tokensOfPreview;
  const input = asked.textTokens + asked.pictureTokens;
  const details = { text_tokens: asked.textTokens, image_tokens: asked.pictureTokens };
  return { input_tokens: input, input_tokens_details: details, output_tokens: output, total_tokens: input + output };
}

async function draw({ asked, variation }: PictureDelivery, done: number, nth = 0): Promise<string> {
  const { prompt, width, height, background, references, mask } = asked;
  const painting: Painting = { prompt, variation: variation + nth, width, height, transparent: background === "transparent" };
  const [reference] = references;
  const bytes = await (reference ? paintOver(painting, reference, mask, done) : paint(painting, done));
  return bytes.toString("base64");
}

/** Writes the events of one picture, or as much as the fault lets through. Its `afterTokens` counts previews here. */
export async function streamPicture(delivery: PictureDelivery): Promise<void> {
  const { response, asked, fault, paceMs, call, signal } = delivery;
  const kind = fault?.fault;
  const name = asked.references.length > 0 ? "image_edit" : "image_generation";
  const event = (type: string, rest: object) => {
    const { size, quality, background } = asked;
    const data = { type, created_at: Math.floor(Date.now() / 1000), size, quality, background, output_format: "png", ...rest };
    response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  if (kind === "slow_first_token") await sleep(fault?.delayMs ?? 0, undefined, { signal }).catch(() => undefined);
  const breaks = kind === "die_mid_stream" || kind === "hang" || kind === "garbage";
  const previews = breaks ? Math.min(fault?.afterTokens ?? 0, asked.previews) : asked.previews;
  for (let index = 0; index < previews; index += 1) {
    await stage(paceMs, signal);
    if (signal.aborted) return;
    event(`${name}.partial_image`, { b64_json: await draw(delivery, (index + 1) / (asked.previews + 1)), partial_image_index: index });
  }
  if (kind === "hang") return untilGone(signal);
  if (kind === "garbage") return void response.end(Buffer.from([0xff, 0xfe, 0x0a, 0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0x7b, 0x0a, 0x0a]));
  if (kind === "die_mid_stream") {
    await sleep(50);
    return void response.destroy();
  }
  await stage(paceMs, signal);
  if (signal.aborted) return;
  call.completionTokens = outputTokens(asked) + previews * tokensOfPreview;
  if (kind === "empty") return void response.end();
  const picture = await draw(delivery, 1);
  const shown = kind === "half_file" ? picture.slice(0, Math.floor(picture.length / 8) * 4) : picture;
  event(`${name}.completed`, { b64_json: shown, ...(kind === "no_usage" ? {} : { usage: usageOf(asked, 1, previews) }) });
  response.end();
}

export async function sendPictures(delivery: PictureDelivery): Promise<void> {
  const { response, asked, fault, paceMs, call, signal } = delivery;
  if (fault?.fault === "hang") return untilGone(signal);
  await stage(paceMs, signal);
  if (signal.aborted) return;
  if (fault?.fault === "die_mid_stream") return void response.destroy();
  const data = await Promise.all(Array.from({ length: asked.count }, (_, index) => draw(delivery, 1, index)));
  call.completionTokens = outputTokens(asked) * asked.count;
  const { size, quality, background } = asked;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      created: Math.floor(Date.now() / 1000),
      ...{ size, quality, background, output_format: "png" },
      data: data.map((picture) => ({ b64_json: picture })),
      usage: usageOf(asked, asked.count, 0),
    }),
  );
}
