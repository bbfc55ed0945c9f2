import type { Calls } from "#contract/api.ts";
import type { Problem } from "#contract/common.ts";
import { sessionStore } from "./session-store.ts";

export type CallName = keyof Calls;
export type CallResult<Name extends CallName> = Calls[Name]["result"];

/** Required if the contract requires it, optional if all its fields are optional, and absent if the contract has none. */
type Part<Key extends string, Value> = [Value] extends [undefined]
  ? { [K in Key]?: never }
  : Partial<Value> extends Value
    ? { [K in Key]?: Value }
    : { [K in Key]: Value };

export type CallOptions<Name extends CallName> = Part<"body", Calls[Name]["body"]> &
  Part<"params", Calls[Name]["params"]> &
  Part<"querystring", Calls[Name]["querystring"]> & {
    headers?: Record<string, string>;
    signal?: AbortSignal;
    anonymous?: boolean;
    file?: Blob;
  };

/** The options can be left out if a call has no required input. */
type OptionsArgument<Name extends CallName> =
  Record<never, never> extends CallOptions<Name> ? [options?: CallOptions<Name>] : [options: CallOptions<Name>];

/** A refusal by the server (RFC 9457). The `code` is stable, and the client chooses its text by it. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly retryAfterSeconds: number | undefined;
  readonly needed: number | undefined;
  readonly available: number | undefined;
  readonly quotedCredits: number | undefined;
  readonly since: string | undefined;
  readonly by: string | undefined;
  readonly fields: readonly { field: string; message: string }[];

  constructor(status: number, problem: Partial<Problem>, retryAfterSeconds?: number) {
    const detail = problem.detail ?? problem.error ?? problem.title ?? `HTTP ${status}`;
    super(detail);
    this.code = problem.code ?? "unexpected";
    this.status = status;
    this.detail = detail;
    this.retryAfterSeconds = problem.retryAfterSeconds ?? retryAfterSeconds;
    this.needed = problem.needed;
    this.available = problem.available;
    this.quotedCredits = problem.quotedCredits;
    this.since = problem.since;
    this.by = problem.by;
    this.fields = problem.fields ?? [];
  }
}

/** The request or its answer did not get through: the device is offline, the connection broke, or the name does not resolve. */
export class NetworkProblem extends Error {
  override readonly name = "NetworkProblem";
}

/** Provides the access token. It is injected by the session, because the session itself calls the API. */
export interface BearerSource {
  /** The access token, refreshed first if it has expired; null when signed out. */
  current(): Promise<string | null>;
  /** After a 401: a token other than `refused`, or null when the session is over. */
  replace(refused: string): Promise<string | null>;
}

let bearers: BearerSource | undefined;

export function provideBearers(source: BearerSource): void {
  bearers = source;
}

/** For a call that is not made here: an upload whose progress is shown. */
export async function bearerNow(): Promise<string | null> {
  return (await bearers?.current()) ?? null;
}

interface RawOptions {
  body?: unknown;
  params?: Record<string, string>;
  querystring?: Record<string, string | number | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sends no token: the content was not written by the person who is signed in. */
  anonymous?: boolean;
  /** Is the body as it is, for a call without a JSON body. Its type is given in `headers`. */
  file?: Blob;
}

function addressOf(path: string, options: RawOptions): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(options.params?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(options.querystring ?? {})) if (value !== undefined) query.set(key, String(value));
  return query.size > 0 ? `${filled}?${query}` : filled;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

function networkProblem(error: unknown): unknown {
  return isAbort(error) ? error : new NetworkProblem(error instanceof Error ? error.message : "network");
}

async function send(method: string, address: string, options: RawOptions, bearer: string | null): Promise<Response> {
  const headers = new Headers(options.headers);
  if (options.body !== undefined) headers.set("content-type", "application/json");
  if (bearer !== null) headers.set("authorization", `Bearer ${bearer}`);
  // The list of sessions shows it as the rough place of a sign-in. No other call needs it.
  else if (!takesBearer(address)) headers.set("x-time-zone", new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const body = options.file ?? JSON.stringify(options.body);
  const init: RequestInit = { method, headers, body, cache: "no-store", credentials: "same-origin" };
  if (options.signal) init.signal = options.signal;
  try {
    return await fetch(address, init);
  } catch (error) {
    throw networkProblem(error);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const body: unknown = await response.json().catch(() => undefined);
  const retryAfter = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return new ApiProblem(
    response.status,
    isRecord(body) ? (body as Partial<Problem>) : {},
    Number.isNaN(retryAfter) ? undefined : retryAfter,
  );
}

/** The calls that create a session send no token. With an expired token there, "wrong password" would look like "signed out". */
function takesBearer(path: string): boolean {
  return !path.startsWith("/api/auth/");
}

/**
 * Makes a call and returns the successful response, for streams. After a 401 it refreshes the session and makes the call once
 * more. Throws ApiProblem, NetworkProblem, or the AbortError of `signal`.
 */
export async function apiResponse<Name extends CallName>(name: Name, ...[options]: OptionsArgument<Name>): Promise<Response> {
  const [method = "GET", path = "/"] = name.split(" ");
  const raw: RawOptions = (options ?? {}) as RawOptions;
  // Every POST has a JSON body, even one without fields, so that the server parses all of them the same way.
  if (method === "POST" && raw.body === undefined && !raw.file) raw.body = {};
  const address = addressOf(path, raw);
  const bearer = bearers && takesBearer(path) && !raw.anonymous ? await bearers.current() : null;
  const asker = sessionStore.getState().user?.id;
  let response = await send(method, address, raw, bearer);
  if (response.status === 401 && bearers && bearer !== null && sessionStore.getState().user?.id === asker) {
    const replacement = await bearers.replace(bearer);
    // If another person has signed in meanwhile, don't repeat the call in their name.
    if (replacement !== null && sessionStore.getState().user?.id === asker) response = await send(method, address, raw, replacement);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/** Makes a call of the contract by name, e.g. `api("POST /api/auth/sign-in", { body })`. Throws the same as apiResponse. */
export async function api<Name extends CallName>(name: Name, ...options: OptionsArgument<Name>): Promise<CallResult<Name>> {
  const response = await apiResponse(name, ...options);
  if (response.status === 204) return null as CallResult<Name>;
  try {
    return (await response.json()) as CallResult<Name>;
  } catch (error) {
    throw networkProblem(error);
  }
}
