import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Model } from "#domain/models.ts";
import type { ModelCall } from "./calls.ts";
import type { ModelFault } from "./faults.ts";
import type { FoundSource } from "./search.ts";

/** One answer. It is complete before the first token is sent. */
export interface Answer {
  id: string;
  createdSeconds: number;
  provider: Model["provider"];
  model: string;
  tokens: readonly string[];
  finish: "complete" | "length" | "content_filter" | "tool_calls";
  promptTokens: number;
  /** Sent before the tokens, without a pace, and billed with them. */
  thinkingTokens: number;
  includeUsage: boolean;
  /** What was searched for, and found; empty for an answer without a search. */
  query: string;
  sources: readonly FoundSource[];
  /** Milliseconds per token. It can change while the answer is written. */
  paceMs: () => number;
  fault: ModelFault | undefined;
}

/** How a protocol writes an answer. */
export interface Frames {
  /** Everything before the first token. */
  begin(withUsage: boolean): string;
  token(token: string): string;
  /** Everything after the last token. Without usage the stream ends early. */
  end(completionTokens: number, withUsage: boolean): string;
  /** The answer as one object, where the protocol is played without a stream too. */
  whole?(completionTokens: number, withUsage: boolean): object;
}

/** Without a pace the stream yields to other connections after this many tokens. */
const tokensPerTurn = 16;

/** A change of the pace is noticed after this long at the latest. */
const noticeMs = 50;

/** A pause that ends early, without an error, if the caller disconnects. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

function untilGone(signal: AbortSignal): Promise<void> {
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      response.off("drain", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    response.once("drain", finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}

/** Bytes that are neither UTF-8 nor JSON nor a server-sent event. */
const garbage = Buffer.from([
  0xff, 0xfe, 0x00, 0x9c, 0x7b, 0x22, 0xc3, 0x28, 0x0a, 0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0x7b, 0x22, 0x63, 0x68, 0x0a, 0x0a, 0xf0, 0x28,
]);

/** Each token has a fixed time, so that a late timer does not delay the following tokens. A new pace counts from its change. */
class Beat {
  private readonly paceMs: () => number;
  private readonly signal: AbortSignal;
  private current: number | undefined;
  private startedAt = 0;
  private tokens = 0;

  constructor({ paceMs }: Answer, signal: AbortSignal) {
    this.paceMs = paceMs;
    this.signal = signal;
  }

  /** Waits for the next token's time. Returns whether it had to wait. */
  async next(): Promise<boolean> {
    this.tokens += 1;
    for (let waited = false; ; waited = true) {
      const waitMs = this.waitMs();
      if (waitMs <= 0 || this.signal.aborted) return waited;
      await pause(Math.min(waitMs, noticeMs), this.signal);
    }
  }

  private waitMs(): number {
    const paceMs = this.paceMs();
    if (paceMs !== this.current) {
      this.current = paceMs;
      this.startedAt = performance.now();
      this.tokens = 1;
    }
    return paceMs === 0 ? 0 : this.startedAt + this.tokens * paceMs - performance.now();
  }
}

/** An answer on its way to its caller. */
export interface Delivery {
  response: ServerResponse;
  answer: Answer;
  frames: Frames;
  call: ModelCall;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/** Writes the answer as server-sent events at its pace, and stops when the caller disconnects. */
export async function streamAnswer(delivery: Delivery): Promise<void> {
  const { response, answer, frames, call, signal } = delivery;
  const { fault } = answer;
  const withUsage = fault?.fault !== "no_usage";
  if (fault?.fault === "hang" && fault.afterTokens === 0) return untilGone(signal);
  if (fault?.fault === "die_mid_stream" && fault.afterTokens === 0) return void response.destroy();
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", "x-request-id": answer.id });
  response.write(frames.begin(withUsage));
  if (fault?.fault === "slow_first_token") await pause(fault.delayMs, signal);
  const complete = await writeTokens(delivery);
  if (signal.aborted) return;
  if (!complete) return breakOff(response, fault, signal);
  response.end(frames.end(fault?.fault === "zero_usage" ? 0 : call.completionTokens, withUsage));
}

/** Returns whether all tokens were written; false if the fault came before the end. */
async function writeTokens({ response, answer, frames, call, signal }: Delivery): Promise<boolean> {
  const breaksOff = answer.fault?.fault === "die_mid_stream" || answer.fault?.fault === "hang" || answer.fault?.fault === "garbage";
  const limit = breaksOff ? Math.min(answer.fault?.afterTokens ?? 0, answer.tokens.length - 1) : answer.tokens.length;
  const beat = new Beat(answer, signal);
  call.completionTokens += answer.thinkingTokens;
  for (const token of answer.tokens.slice(0, limit)) {
    const waited = await beat.next();
    if (!waited && call.completionTokens % tokensPerTurn === tokensPerTurn - 1) await new Promise(setImmediate);
    if (signal.aborted) return false;
    call.completionTokens += 1;
    if (!response.write(frames.token(token))) await drained(response, signal);
  }
  return !breaksOff;
}

async function breakOff(response: ServerResponse, fault: ModelFault | undefined, signal: AbortSignal): Promise<void> {
  if (fault?.fault === "hang") return untilGone(signal);
  if (fault?.fault === "garbage") return void response.end(garbage);
  // A reset discards data that the caller has received but not read yet, so give it time to read.
  await pause(breathMs, signal);
  response.destroy();
}

const breathMs = 50;

/** Writes the answer as one JSON object, after the time that streaming its tokens would take. */
export async function sendAnswer({ response, answer, frames, call, signal }: Delivery): Promise<void> {
  const kind = answer.fault?.fault;
  if (kind === "hang") return untilGone(signal);
  const breaksOff = kind === "die_mid_stream" || kind === "garbage";
  const tokenCount = breaksOff ? Math.min(answer.fault?.afterTokens ?? 0, answer.tokens.length) : answer.tokens.length;
  await pause(tokenCount * answer.paceMs() + (kind === "slow_first_token" ? (answer.fault?.delayMs ?? 0) : 0), signal);
  if (signal.aborted) return;
  if (kind === "die_mid_stream") return void response.destroy();
  response.writeHead(200, { "content-type": "application/json", "x-request-id": answer.id });
  if (kind === "garbage") return void response.end(garbage);
  call.completionTokens = answer.tokens.length + answer.thinkingTokens;
  response.end(JSON.stringify(frames.whole?.(kind === "zero_usage" ? 0 : call.completionTokens, kind !== "no_usage")));
}
