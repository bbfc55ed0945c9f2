/** A person who uses the API as the client does: signs up, reads mail, pays and asks. */
import { randomUUID } from "node:crypto";
import { createParser } from "eventsource-parser";
import type { Session } from "#contract/auth/sign-in.ts";
import type { OrderPreview } from "#contract/billing/orders.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import type { GenerationEvent, Receipt, Turn } from "#contract/generations/generations.ts";
import type { ClipOptions } from "#contract/generations/media.ts";
import { waitUntil } from "#server/embedded/processes.ts";
import { consentTo } from "./consent.ts";

const refreshWithinMs = 90_000;

export interface Answer {
  generationId: string;
  text: string;
  receipt: Receipt | undefined;
  /** The answer's place in its conversation, once it has begun. */
  turn: Turn | null;
  lastEventId: number;
  /** Event ids in the order received, to check that none is missing or repeated. */
  eventIds: number[];
}

export interface AskOptions {
  model?: string;
  prompt?: string;
  quotedCredits?: number;
  key?: string;
  conversationId?: string;
  clip?: ClipOptions;
  apiUrl?: string;
  signal?: AbortSignal;
  onEvent?: (event: GenerationEvent, id: number) => void;
}

export class Visitor {
  readonly email = `visitor-${randomUUID()}@example.com`;
  readonly password = "correct horse 9 battery";
  session: Session | undefined;
  private readonly apiUrl: string;
  private readonly sandboxUrl: string;

  constructor(apiUrl: string, sandboxUrl: string) {
    this.apiUrl = apiUrl;
    this.sandboxUrl = sandboxUrl;
  }

  /** Returns the raw response; `path` is a path on the API or a whole URL. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    await this.stayIn();
    return fetch(new URL(path, this.apiUrl), {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(this.session ? { authorization: `Bearer ${this.session.access_token}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }

  /** Refreshes the session in time, as the client does: some tests take longer than an access token is valid. */
  private async stayIn(): Promise<void> {
    if (!this.session || this.session.expires_at * 1_000 - Date.now() > refreshWithinMs) return;
    const answer = await fetch(new URL("/api/auth/refresh", this.apiUrl), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refresh_token: this.session.refresh_token }),
    });
    if (answer.ok) this.session = (await answer.json()) as Session;
  }

  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.call(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} → ${response.status}: ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  async signUp(): Promise<void> {
    await this.json("POST", "/api/auth/sign-up", { email: this.email, password: this.password });
  }

  /** Waits for a mail with a link to `path` that has the query parameter, and returns the newest such link. */
  async mailedLink(path: string, parameter = "confirm"): Promise<URL> {
    let found: string | undefined;
    await waitUntil(
      async () => {
        const mails = (await (await fetch(`${this.sandboxUrl}/mail?to=${encodeURIComponent(this.email)}`)).json()) as { links: string[] }[];
        found = mails
          .flatMap((mail) => mail.links)
          .find((link) => new URL(link).pathname === path && new URL(link).searchParams.has(parameter));
        return found !== undefined;
      },
      60_000,
      50,
    );
    if (found === undefined) throw new Error(`no mail to ${this.email} with a link to ${path}`);
    return new URL(found);
  }

  async confirm(): Promise<void> {
    const token = (await this.mailedLink("/auth")).searchParams.get("confirm");
    this.session = await this.json<Session>("POST", "/api/auth/confirm", { token, password: this.password });
  }

  async signIn(password = this.password): Promise<this> {
    this.session = await this.json<Session>("POST", "/api/auth/sign-in", { email: this.email, password });
    return this;
  }

  async join(): Promise<this> {
    await this.signUp();
    await this.confirm();
    return this;
  }

  async checkout(priceId = "starter_month"): Promise<string> {
    const { amountCents } = await this.json<OrderPreview>("POST", "/api/billing/order/preview", { priceId });
    const order = { priceId, consent: { ...consentTo(priceId), amountCents } };
    return (await this.json<{ url: string }>("POST", "/api/functions/create-checkout", order)).url;
  }

  /** Pays on the sandbox's checkout page. */
  async pay(checkoutUrl: string, card = "success"): Promise<Response> {
    const session = new URL(checkoutUrl).pathname.split("/").at(-1);
    return fetch(`${this.sandboxUrl}/checkout/${session}/pay`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ card }),
      redirect: "manual",
    });
  }

  async check(): Promise<SubscriptionCheck> {
    return this.json<SubscriptionCheck>("POST", "/api/functions/reliable-subscription-check", {});
  }

  async wallet(): Promise<Wallet> {
    return this.json<Wallet>("GET", "/api/credits/wallet");
  }

  async waitForSubscription(credits: number, timeoutMs = 90_000): Promise<SubscriptionCheck> {
    let last: SubscriptionCheck | undefined;
    const done = async () => {
      last = await this.check().catch(() => last);
      return last?.subscribed === true && last.credits === credits;
    };
    if (!(await waitUntil(done, timeoutMs, 50))) throw new Error(`not subscribed with ${credits} credits in time: ${JSON.stringify(last)}`);
    if (!last) throw new Error("unreachable");
    return last;
  }

  async subscribe(priceId = "starter_month", credits = 300): Promise<void> {
    await this.pay(await this.checkout(priceId));
    await this.waitForSubscription(credits);
  }

  async ask(options: AskOptions = {}): Promise<Answer> {
    const { model = "gpt-6-luna", prompt = "What is a tessera?", quotedCredits = 1, key = randomUUID(), conversationId, clip } = options;
    const body = { model, prompt, quotedCredits, ...(conversationId ? { conversationId } : {}), ...(clip ? { clip } : {}) };
    const url = new URL("/api/generations", options.apiUrl ?? this.apiUrl).href;
    return this.read(await this.call("POST", url, body, { "idempotency-key": key }, options.signal), options);
  }

  /** Reads the events after `lastEventId`. */
  async resume(generationId: string, lastEventId: number, options: AskOptions = {}): Promise<Answer> {
    const url = new URL(`/api/generations/${generationId}/events`, options.apiUrl ?? this.apiUrl).href;
    return this.read(
      await this.call("GET", url, undefined, { "last-event-id": String(lastEventId) }, options.signal),
      { ...options },
      generationId,
    );
  }

  private async read(response: Response, options: AskOptions, generationId = ""): Promise<Answer> {
    if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
    const answer: Answer = { generationId, turn: null, text: "", receipt: undefined, lastEventId: 0, eventIds: [] };
    const parser = createParser({
      onEvent: ({ event, data, id }) => {
        const parsed = { event, data: JSON.parse(data) } as GenerationEvent;
        answer.lastEventId = Number(id);
        answer.eventIds.push(answer.lastEventId);
        if (parsed.event === "start") {
          answer.generationId = parsed.data.generationId;
          answer.turn = parsed.data.turn;
        }
        if (parsed.event === "delta") answer.text += parsed.data.text;
        if (parsed.event === "receipt") answer.receipt = parsed.data;
        options.onEvent?.(parsed, answer.lastEventId);
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch (error) {
      // The connection was dropped: return the events received so far, if there are any.
      if (answer.eventIds.length === 0) throw error;
    }
    return answer;
  }
}

/** Moves business time in the sandbox by an ISO 8601 duration; resolves when all work due by then is done. */
export async function advanceClock(sandboxUrl: string, duration: string): Promise<string> {
  const response = await fetch(`${sandboxUrl}/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ advance: duration }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST /clock → ${response.status}: ${text}`);
  return (JSON.parse(text) as { now: string }).now;
}
