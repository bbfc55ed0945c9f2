/** The Stripe sandbox. The product calls it instead of Stripe if it has no Stripe keys. */
import type { FastifyPluginAsync } from "fastify";
import type { ApiFault } from "./api-faults.ts";
import { ApiFaults } from "./api-faults.ts";
import type { Context } from "./context.ts";
import type { EventFault } from "./deliver.ts";
import { Deliveries } from "./deliver.ts";
import { EndpointDeliveries } from "./deliver-endpoints.ts";
import { formBodyLimitBytes } from "./form.ts";
import { mountApi } from "./http-api.ts";
import { mountPages } from "./http-pages.ts";
import { runNextDue } from "./life-cycle.ts";
import { mountStatus } from "./set-status.ts";
import { Store } from "./store.ts";
import { itemOf } from "./subscription-status.ts";
import { startTaxes } from "./tax-settings.ts";

export interface StripeSandboxOptions {
  /** The file of the node:sqlite database, or ":memory:". */
  databasePath: string;
  /** The sandbox's own public origin, for the addresses of hosted pages. */
  origin: URL;
  /** The receiver of events, and the secret that signs them. */
  webhook: { url: URL; secret: string };
  /** Business time. */
  now(): Date;
  /** Has Stripe Tax set up from the start: a business in Germany that sells to the European Union. */
  taxes?: boolean;
  log: { info(details: object, message: string): void; warn(details: object, message: string): void };
}

export interface SandboxListing {
  sessions: {
    id: string;
    mode: string;
    status: string;
    amountCents: number;
    email: string | null;
    createdAt: string;
    url: string | null;
  }[];
  subscriptions: {
    id: string;
    customer: string;
    email: string | null;
    plan: string;
    status: string;
    periodEndsAt: string;
    cancelsAt: string | null;
  }[];
  events: { id: string; type: string; createdAt: string; delivered: boolean }[];
}

export interface StripeSandbox {
  plugin: FastifyPluginAsync;
  /** The next time at which Stripe does something by itself. */
  nextDueAt(): Date | null;
  /** Does all work due at or before `now`, in order, each with the clock at its due time. */
  runDue(now: Date): Promise<void>;
  /** The number of webhooks that were neither delivered nor given up nor dropped by a fault. */
  pendingDeliveries(): number;
  /** Tries all waiting deliveries now, regardless of back-off. */
  flushDeliveries(): Promise<void>;
  /** Replaces the pending faults. Each applies to the next `count` (default 1) events before their first delivery. */
  setEventFaults(faults: EventFault[]): void;
  /** Replaces the pending faults of the API. */
  setApiFaults(faults: ApiFault[]): void;
  listForControlPage(): SandboxListing;
  close(): Promise<void>;
}

const listedOnControlPage = 20;

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function listing(context: Context): SandboxListing {
  const page = { limit: listedOnControlPage, startingAfter: undefined, endingBefore: undefined };
  const { store } = context;
  return {
    sessions: store.page("checkout.session", [], page).data.map((session) => ({
      id: session.id,
      mode: session.mode,
      status: session.status ?? "open",
      amountCents: session.amount_total ?? 0,
      email: session.customer_details?.email ?? null,
      createdAt: isoTime(session.created),
      url: session.url,
    })),
    subscriptions: store.page("subscription", [], page).data.map((subscription) => {
      const item = itemOf(subscription);
      return {
        id: subscription.id,
        customer: String(subscription.customer),
        email: store.find("customer", String(subscription.customer))?.email ?? null,
        plan: store.find("product", String(item.price.product))?.name ?? item.price.id,
        status: subscription.status,
        periodEndsAt: isoTime(item.current_period_end),
        cancelsAt: subscription.cancel_at === null ? null : isoTime(subscription.cancel_at),
      };
    }),
    events: store.page("event", [], page).data.map((event) => ({
      id: event.id,
      type: event.type,
      createdAt: isoTime(event.created),
      delivered: event.pending_webhooks === 0,
    })),
  };
}

/** Does all due work, and lets the event loop turn in between so that requests are still answered. */
async function runAllDue(context: Context, until: number, afterChange: () => void): Promise<void> {
  while (runNextDue(context, until)) {
    afterChange();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function createStripeSandbox(options: StripeSandboxOptions): StripeSandbox {
  const store = new Store(options.databasePath);
  const deliveries = new Deliveries(store, options.webhook, options.log);
  const context: Context = {
    store,
    origin: options.origin.origin,
    now: () => Math.floor(options.now().getTime() / 1000),
    request: null,
  };
  if (options.taxes) startTaxes(context);
  const apiFaults = new ApiFaults();
  const elsewhere = new EndpointDeliveries(store, options.log);
  const wake = (): void => {
    deliveries.wake();
    elsewhere.wake();
  };
  // Deliver what an earlier run left queued.
  wake();

  const plugin: FastifyPluginAsync = async (server) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: formBodyLimitBytes },
      (_request, body, done) => done(null, body),
    );
    server.addContentTypeParser(
      "application/json",
      { parseAs: "string", bodyLimit: formBodyLimitBytes },
      server.getDefaultJsonParser("error", "error"),
    );
    mountApi(server, context, apiFaults, wake);
    mountPages(server, context, wake);
    mountStatus(server, context, wake);
  };

  return {
    plugin,
    nextDueAt: () => {
      const due = store.nextDue();
      return due ? new Date(due.at * 1000) : null;
    },
    runDue: (now) => runAllDue(context, Math.floor(now.getTime() / 1000), wake),
    pendingDeliveries: () => deliveries.pending(),
    flushDeliveries: () => deliveries.flush(),
    setEventFaults: (faults) => deliveries.setFaults(faults),
    setApiFaults: (faults) => apiFaults.set(faults),
    listForControlPage: () => listing(context),
    close: async () => {
      await Promise.all([deliveries.close(), elsewhere.close()]);
      store.close();
    },
  };
}
