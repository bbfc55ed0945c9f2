import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import Stripe from "stripe";
import type { StripeSandbox } from "#sandbox/stripe/plugin.ts";
import { createStripeSandbox } from "#sandbox/stripe/plugin.ts";
import { freePort } from "#server/embedded/processes.ts";

export const webhookSecret = "whsec_test_of_the_sandbox";

export interface Received {
  event: Stripe.Event;
  signature: string;
  body: string;
  atMs: number;
}

/** A webhook endpoint that verifies signatures as the product does. `answer` decides the status of each delivery. */
export class Receiver {
  readonly received: Received[] = [];
  /** The number of deliveries, including refused ones. */
  attempts = 0;
  answer: (event: Stripe.Event) => number = () => 200;
  /** What the answer to an event waits for. */
  wait: (event: Stripe.Event) => Promise<void> = () => Promise.resolve();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const signature = String(request.headers["stripe-signature"]);
      const event = Stripe.webhooks.constructEvent(body, signature, webhookSecret);
      void this.wait(event).then(() => {
        const status = this.answer(event);
        this.attempts += 1;
        if (status === 200) this.received.push({ event, signature, body, atMs: Date.now() });
        response.writeHead(status).end();
      });
    });
  });

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    return (this.server.address() as AddressInfo).port;
  }

  types(): string[] {
    return this.received.map((item) => item.event.type);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export interface Harness {
  sandbox: StripeSandbox;
  stripe: Stripe;
  address: string;
  /** Sets business time without running due work. */
  setNow(at: Date): void;
  now(): Date;
  /** Moves business time to `at` and runs everything due by then. */
  advanceTo(at: Date): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  databasePath?: string;
  webhookPort: number;
  now?: Date;
  taxes?: boolean;
  /** Is called with every response of the API. */
  onResponse?: (method: string, url: string, body: string) => void;
}

const quiet = { info: () => undefined, warn: () => undefined };

export async function startSandbox(options: HarnessOptions): Promise<Harness> {
  let now = options.now ?? new Date("2026-01-31T10:00:00Z");
  const app = Fastify({ forceCloseConnections: true });
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const sandbox = createStripeSandbox({
    databasePath: options.databasePath ?? ":memory:",
    origin: new URL(address),
    webhook: { url: new URL(`http://127.0.0.1:${options.webhookPort}/api/stripe/webhook`), secret: webhookSecret },
    now: () => now,
    ...(options.taxes ? { taxes: true } : {}),
    log: quiet,
  });
  app.addHook("onSend", async (request, _reply, payload) => {
    if (typeof payload === "string") options.onResponse?.(request.method, request.url, payload);
    return payload;
  });
  await app.register(sandbox.plugin);
  await app.listen({ port, host: "127.0.0.1" });
  return {
    sandbox,
    address,
    stripe: newStripe(port),
    setNow: (at) => {
      now = at;
    },
    now: () => now,
    advanceTo: async (at) => {
      now = at;
      await sandbox.runDue(at);
    },
    close: async () => {
      await app.close();
      await sandbox.close();
    },
  };
}

export function newStripe(port: number, key = "sk_test_sandbox"): Stripe {
  return new Stripe(key, { host: "127.0.0.1", port, protocol: "http", maxNetworkRetries: 0, telemetry: false });
}

export async function pay(harness: Pick<Harness, "address">, sessionId: string, card: string, asJson = true): Promise<Response> {
  return fetch(`${harness.address}/checkout/${sessionId}/pay`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": asJson ? "application/json" : "application/x-www-form-urlencoded" },
    body: asJson ? JSON.stringify({ card }) : `card=${card}&from=page`,
  });
}

export async function createPlan(stripe: Stripe, name: string, cents: number, interval: "month" | "year" = "month"): Promise<Stripe.Price> {
  return stripe.prices.create({
    currency: "usd",
    unit_amount: cents,
    recurring: { interval },
    product_data: { name },
    lookup_key: `${name.toLowerCase()}_${interval}`,
    transfer_lookup_key: true,
  });
}

export async function createSession(
  harness: Pick<Harness, "stripe">,
  price: string,
  extra: Stripe.Checkout.SessionCreateParams = {},
): Promise<Stripe.Checkout.Session> {
  return harness.stripe.checkout.sessions.create({
    mode: "subscription",
    line_items: [{ price, quantity: 1 }],
    success_url: "http://127.0.0.1:3000/profile?session={CHECKOUT_SESSION_ID}",
    cancel_url: "http://127.0.0.1:3000/pricing",
    ...extra,
  });
}

/** Creates a customer with a paid subscription to a plan of $19.99 a month. */
export async function subscribe(
  harness: Harness,
  extra: Stripe.Checkout.SessionCreateParams = {},
): Promise<{ session: Stripe.Checkout.Session; subscription: Stripe.Subscription; customer: string; price: Stripe.Price }> {
  const price = await createPlan(harness.stripe, "Starter", 1999);
  const customer = await harness.stripe.customers.create({ email: "ada@example.com", metadata: { user: "1" } });
  const session = await createSession(harness, price.id, { customer: customer.id, ...extra });
  await pay(harness, session.id, "success");
  const paid = await harness.stripe.checkout.sessions.retrieve(session.id, { expand: ["subscription"] });
  if (typeof paid.subscription !== "object" || paid.subscription === null) throw new Error("the session has no subscription");
  return { session: paid, subscription: paid.subscription, customer: customer.id, price };
}

/** Pays as somebody who names `country` on the page; "" names none. */
export async function payFrom(
  harness: Pick<Harness, "address">,
  sessionId: string,
  country: string,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ card: "success", country, ...more });
  return fetch(`${harness.address}/checkout/${sessionId}/pay`, { method: "POST", redirect: "manual", headers, body });
}

/** Stripe Tax of a business in Germany that sells to the whole European Union. */
export async function switchTaxOn(stripe: Stripe): Promise<void> {
  await stripe.tax.settings.update({
    head_office: { address: { country: "DE", line1: "Example Street 1", city: "Berlin", postal_code: "10115" } },
  });
  await stripe.tax.registrations.create({ country: "DE", active_from: "now", country_options: { de: { type: "oss_union" } } });
}

export async function refusal(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Stripe.errors.StripeError) return outcome;
  throw new Error(`the call was not refused: ${String(outcome)}`);
}
