/**
 * xAI's clips: a request begins a job, whose state is asked for until it has a temporary address of the finished file. The package of OpenAI
 * knows nothing like it.
 */
import { Outage } from "../../failures.ts";
import { reasonOfWords } from "./filter-words.ts";
import type { ClipState, ClipWish, ConnectClips } from "./protocol.ts";
import { ClipLost, ModelOutage, ModelRefusal, RequestRefused } from "./protocol.ts";
import { isModelGone } from "./provider-errors.ts";
import type { EventData } from "./response-stream.ts";
import { fieldsOf, isFields } from "./response-stream.ts";

const startTimeoutMs = 60_000;
const checkTimeoutMs = 20_000;
/** A response about a job has a few hundred bytes. */
const responseBytes = 64 * 1024;
const resolution = "720p";
/** Where xAI keeps finished clips. Another address must be on the server that we ask. */
const fileHost = "x.ai";
/** The cost is told in ticks, of which a US dollar has 10¹⁰. */
const ticksPerMicroDollar = 1e4;
/** Words of refusals, which have no code of their own. */
const filterWords = /moderation|content polic|usage guideline|safety/i;
/** These statuses are about our key or account, or too many requests. The other protocols count them as outages too. */
const outageStatuses: ReadonlySet<number> = new Set([401, 402, 408, 409, 425]);

/** Reads JSON up to a limit. Throws a ModelOutage if it is none. */
async function readFields(response: Response): Promise<EventData> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > responseBytes) throw new ModelOutage("provider_garbage", "the response about a clip is too long");
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (isFields(value)) return value;
  } catch {
    // Falls through: the error is not passed on, because it may quote what a person wrote.
  }
  throw new ModelOutage("provider_garbage", "the response about a clip is not an object");
}

function waitMs(headers: Headers): number | undefined {
  const header = headers.get("retry-after");
  return header && /^\d{1,4}$/.test(header) ? Number(header) * 1_000 : undefined;
}

async function toError(response: Response): Promise<Error> {
  const { status, headers } = response;
  const message = `the provider answered ${status} for a clip`;
  const { error, code } = await readFields(response).catch((): EventData => ({}));
  const words = [error, code, fieldsOf(error).message, fieldsOf(error).code].filter((each) => typeof each === "string").join(" ");
  if (status === 429) return new ModelOutage("provider_rate_limited", message, waitMs(headers));
  if (status < 500 && filterWords.test(words)) return new ModelRefusal(message, reasonOfWords(words));
  if (status < 500 && isModelGone(status, { code })) return new ModelOutage("model_gone", message);
  if (status >= 500 || status === 403 || outageStatuses.has(status)) return new ModelOutage("provider_error", message);
  return status >= 400 ? new RequestRefused(message, status) : new Error(message);
}

/** A connection that breaks, or does not answer in time, is the provider's outage. */
async function sent(request: Promise<Response>): Promise<Response> {
  return request.catch((error: unknown) => {
    if (error instanceof Error && error.name === "TimeoutError")
      throw new ModelOutage("provider_timeout", "the provider did not answer in time");
    throw error instanceof TypeError ? new Outage("the provider of clips can't be reached", { cause: error }) : error;
  });
}

/** Whether the file may be fetched from there: otherwise a provider's answer could have us ask any server for anything. */
export function isFileAddress(url: string, baseUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  return origin === new URL(baseUrl).origin || (protocol === "https:" && (hostname === fileHost || hostname.endsWith(`.${fileHost}`)));
}

function bodyOf(model: string, { prompt, seconds, shape, picture }: ClipWish): object {
  const common = { model, prompt, duration: seconds, resolution };
  if (!picture) return { ...common, aspect_ratio: shape };
  return { ...common, image: { url: `data:image/png;base64,${Buffer.from(picture).toString("base64")}` } };
}

function stateOf({ status, progress, video, usage, error }: EventData): ClipState {
  const { url, respect_moderation: respectful } = fieldsOf(video);
  const { cost_in_usd_ticks: ticks } = fieldsOf(usage);
  const costMicroDollars = typeof ticks === "number" && ticks >= 0 ? Math.round(ticks / ticksPerMicroDollar) : null;
  const failed = (reason: ModelOutage | ModelRefusal): ClipState => ({ state: "failed", error: reason, costMicroDollars });
  if (respectful === false) return failed(new ModelRefusal("the provider filtered the clip", "unspecified"));
  if (status === "failed" || status === "expired") {
    const { code, message } = fieldsOf(error);
    const words = `${String(code)} ${String(message)}`;
    if (filterWords.test(words)) return failed(new ModelRefusal("the provider filtered the clip", reasonOfWords(words)));
    return failed(new ModelOutage("provider_error", `the provider's job ended as ${status}`));
  }
  if (status === "pending") {
    const percent = typeof progress === "number" && progress >= 0 && progress <= 100 ? Math.round(progress) : null;
    return { state: "working", percent };
  }
  if (status !== "done") throw new ModelOutage("provider_garbage", "the state of a clip is unknown");
  if (typeof url !== "string") return failed(new ModelOutage("provider_garbage", "a finished clip has no address"));
  return { state: "done", url, costMicroDollars };
}

export const connectXaiVideos: ConnectClips = ({ apiKey, baseUrl }, send) => {
  const base = baseUrl.replace(/\/$/, "");
  const within = (signal: AbortSignal, timeoutMs: number) => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" };
  return {
    async start({ upstreamModel }, wish, signal) {
      const request = {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(bodyOf(upstreamModel, wish)),
        signal: within(signal, startTimeoutMs),
      };
      const response = await sent(send(`${base}/videos/generations`, request));
      if (!response.ok) throw await toError(response);
      const { request_id: requestId } = await readFields(response);
      if (typeof requestId === "string" && /^[\w.:-]{1,200}$/.test(requestId)) return requestId;
      throw new ModelOutage("provider_garbage", "the job of a clip has no name");
    },
    async check(requestId, signal) {
      const address = `${base}/videos/${encodeURIComponent(requestId)}`;
      const response = await sent(send(address, { headers, signal: within(signal, checkTimeoutMs) }));
      if (response.status === 404 || response.status === 410) throw new ClipLost("provider_error", "the provider does not know the clip");
      if (!response.ok) throw await toError(response);
      return stateOf(await readFields(response));
    },
    async fetch(url, signal) {
      if (!isFileAddress(url, baseUrl)) throw new ModelOutage("provider_garbage", "the address of a clip is not the provider's");
      // Our key is for the provider's calls, and not for where it keeps its files.
      const response = await sent(send(url, { headers: { accept: "video/mp4" }, signal }));
      if (response.ok && response.body) return response;
      await response.body?.cancel();
      if ([401, 403, 404, 410].includes(response.status)) throw new ClipLost("provider_error", "the address of a clip has ended");
      throw new ModelOutage("provider_error", `the provider answered ${response.status} for the file of a clip`);
    },
  };
};
