/**
 * Reads a streamed response, alike for all protocols: its server-sent events, limits on bytes, and what happens to the connection. The
 * packages of the providers send the requests; their own iterators are not used, because they cost two thirds of what a byte proxy does.
 */
import type { EventSourceParser } from "eventsource-parser";
import { createParser } from "eventsource-parser";
import type { FilterReason } from "#domain/filter-reasons.ts";
import type { FinishReason, ModelEvent, ModelUsage, Source } from "./protocol.ts";
import { ModelOutage } from "./protocol.ts";

/** A provider that sends more has a fault. */
export interface ResponseLimits {
  bytes: number;
  eventCharacters: number;
}

/** Far above any answer within the token limits. */
const textLimits: ResponseLimits = { bytes: 8 * 1024 * 1024, eventCharacters: 1024 * 1024 };
/** Until the response ends, after the provider has said that nothing follows. */
const restTimeoutMs = 1_000;
/** More sources, or longer addresses and titles, are of no use to a reader. */
const maximumSources = 50;
const maximumSourceCharacters = 2_000;

/** The JSON of one event. Nothing is known about its fields. */
export type EventData = Readonly<Record<string, unknown>>;

/** Says what one event means. A protocol makes one for each response. */
export type ReadEvent = (event: EventData, said: Said) => void;

export function isFields(value: unknown): value is EventData {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The field's object; an empty one where there is none. */
export function fieldsOf(value: unknown): EventData {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly EventData[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function tokenCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31 ? value : null;
}

/** Some providers say what the call costs, in US dollars. */
export function microDollars(dollars: unknown): number | null {
  return typeof dollars === "number" && dollars >= 0 && dollars < 1_000 ? Math.ceil(dollars * 1e6) : null;
}

const shortText = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" && value.length <= maximumSourceCharacters ? value.trim() : null;

/** Undefined if it has no address that a browser may open. */
function toSource({ id, url, title, date }: EventData): Source | undefined {
  const address = shortText(url);
  if (address === null || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  return { mark: tokenCount(id), url: address, title: shortText(title), date: shortText(date) };
}

/** Before the provider has said anything about it. */
export const unknownUsage: ModelUsage = {
  promptTokens: null,
  pictureTokens: null,
  completionTokens: null,
  thinkingTokens: null,
  searches: null,
  costMicroDollars: null,
};

/** What the events of one response say, until it is passed on. */
export class Said {
  /** The provider has said that nothing follows. */
  done = false;
  /** What is wrong with the response. What was said before it is still valid. */
  fault: Error | undefined;
  private gathered = "";
  private thinks = false;
  private reason: FinishReason | undefined;
  private filter: FilterReason | undefined;
  private reasonTold = false;
  private latestUsage: ModelUsage | undefined;
  private newSources: Source[] = [];
  private readonly knownSources = new Set<string>();
  private latestPreview: Uint8Array | undefined;
  private finished: Uint8Array | undefined;

  text(text: unknown): void {
    if (typeof text === "string") this.gathered += text;
  }

  thinking(): void {
    this.thinks = true;
  }

  /** Only the first reason counts. */
  finish(reason: FinishReason): void {
    this.reason ??= reason;
  }

  /** The end of an answer that the provider's filter stopped. */
  filtered(why: FilterReason): void {
    if (this.reason) return;
    this.reason = "filtered";
    this.filter = why;
  }

  usage(usage: Partial<ModelUsage>): void {
    this.latestUsage = { ...unknownUsage, ...usage };
  }

  preview(bytes: Uint8Array): void {
    this.latestPreview = bytes;
  }

  picture(bytes: Uint8Array): void {
    this.latestPreview = undefined;
    this.finished = bytes;
  }

  /** Adds those that were not said before. */
  sources(found: readonly EventData[]): void {
    for (const each of found) {
      const source = toSource(each);
      if (!source || this.knownSources.has(source.url) || this.knownSources.size >= maximumSources) continue;
      this.knownSources.add(source.url);
      this.newSources.push(source);
    }
  }

  /** Returns what was said since the last call. Text that arrived together is one event. */
  take(): ModelEvent[] {
    const events: ModelEvent[] = [];
    if (this.gathered !== "") events.push({ type: "text", text: this.gathered });
    if (this.newSources.length > 0) events.push({ type: "sources", sources: this.newSources });
    if (this.latestPreview) events.push({ type: "preview", bytes: this.latestPreview });
    if (this.finished) events.push({ type: "picture", bytes: this.finished });
    if (this.reason && !this.reasonTold) events.push({ type: "finish", reason: this.reason, ...(this.filter && { filter: this.filter }) });
    if (this.latestUsage) events.push({ type: "usage", usage: this.latestUsage });
    if (events.length === 0) events.push({ type: this.thinks ? "thinking" : "working" });
    this.reasonTold = this.reason !== undefined;
    this.gathered = "";
    this.thinks = false;
    this.newSources = [];
    this.latestPreview = undefined;
    this.finished = undefined;
    this.latestUsage = undefined;
    return events;
  }
}

/** Turns the bytes of a response into events. */
class ByteReader {
  readonly said = new Said();
  private bytes = 0;
  private readonly read: ReadEvent;
  private readonly maximumBytes: number;
  private readonly decoder = new TextDecoder();
  private readonly parser: EventSourceParser;

  constructor(read: ReadEvent, limits: ResponseLimits) {
    this.read = read;
    this.maximumBytes = limits.bytes;
    this.parser = createParser({
      maxBufferSize: limits.eventCharacters,
      onEvent: ({ data }) => this.readData(data),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.said.fault ??= new ModelOutage("provider_garbage", "an event has no end");
      },
    });
  }

  take(bytes: Uint8Array): ModelEvent[] {
    this.bytes += bytes.length;
    if (this.bytes > this.maximumBytes) this.said.fault ??= new ModelOutage("provider_garbage", "the response has no end");
    this.parser.feed(this.decoder.decode(bytes, { stream: true }));
    return this.said.take();
  }

  private readData(data: string): void {
    const { said } = this;
    if (said.done || said.fault) return;
    // OpenAI's protocols end so, or may: other providers have taken it over for the newer one too.
    if (data === "[DONE]") {
      said.done = true;
      return;
    }
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      event = undefined;
    }
    if (isFields(event)) this.read(event, said);
    else said.fault = new ModelOutage("provider_garbage", "an event is not a JSON object");
  }
}

async function openBody({ body, headers }: Response): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  if (body && /^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) return body.getReader();
  await body?.cancel();
  throw new ModelOutage("provider_garbage", "the response is not a stream of events");
}

/** Reads the response to its end, so that its connection stays open and the next call needs no handshake. */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), restTimeoutMs).unref();
  let ended = false;
  while (!ended)
    ended = await reader.read().then(
      ({ done }) => done,
      () => true,
    );
  clearTimeout(timer);
}

/** Sends the request with `open` and yields what its response says. */
export async function* streamEvents(
  open: () => Promise<Response>,
  read: ReadEvent,
  limits: ResponseLimits = textLimits,
): AsyncGenerator<ModelEvent, void> {
  const reader = await openBody(await open());
  const bytes = new ByteReader(read, limits);
  const { said } = bytes;
  try {
    while (!said.done) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of bytes.take(value)) yield event;
      if (said.fault) throw said.fault;
    }
  } finally {
    if (said.done) void readRest(reader);
    // Closes the connection if part of the response was not read.
    else void reader.cancel().catch(() => {});
  }
}
