/**
 * Delivers events to webhook endpoints made through the API: to each the types it asks for, at least once, with back-off, for three days.
 * The sandbox's clock waits for deliveries to the product's own endpoint (deliver.ts), but not for these.
 */
import type { DeliveryLog } from "./deliver.ts";
import { firstDelayMs, givenUpAfterMs, longestDelayMs, sendEvent } from "./deliver.ts";
import type { Store } from "./store.ts";

const batchSize = 50;

interface Waiting {
  sequence: number;
  endpoint: string;
  body: string;
  firstAtMs: number;
  attempts: number;
}

/** Queues the event for the endpoints that ask for its type, in the transaction that made the event. */
export function queueForEndpoints(store: Store, eventId: string, type: string): void {
  const now = Date.now();
  for (const { id, status, enabled_events: types } of store.where("webhook_endpoint", [], 100)) {
    if (status !== "enabled" || !(types.includes("*") || types.includes(type))) continue;
    store
      .statement("insert into endpoint_deliveries (event, endpoint, first_at_ms, next_at_ms) values (?, ?, ?, ?)")
      .run(eventId, id, now, now);
  }
}

export class EndpointDeliveries {
  private readonly store: Store;
  private readonly log: DeliveryLog;
  private readonly closing = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(store: Store, log: DeliveryLog) {
    this.store = store;
    this.log = log;
  }

  wake(): void {
    if (this.closing.signal.aborted) return;
    this.running = this.running.then(() => this.pass());
  }

  async close(): Promise<void> {
    this.closing.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private due(): Waiting[] {
    const sql = `select d.sequence, d.endpoint, o.data as body, d.first_at_ms, d.attempts from endpoint_deliveries d
      join objects o on o.id = d.event where d.next_at_ms <= ? order by d.sequence limit ${batchSize}`;
    return this.store
      .statement(sql)
      .all(Date.now())
      .map((row) => ({
        sequence: Number(row.sequence),
        endpoint: String(row.endpoint),
        body: String(row.body),
        firstAtMs: Number(row.first_at_ms),
        attempts: Number(row.attempts),
      }));
  }

  private async pass(): Promise<void> {
    if (this.closing.signal.aborted) return;
    clearTimeout(this.timer);
    for (let due = this.due(); due.length > 0; due = this.due()) {
      for (const delivery of due) await this.attempt(delivery);
      if (this.closing.signal.aborted) return;
    }
    const { at } = this.store.statement("select min(next_at_ms) as at from endpoint_deliveries").get() ?? {};
    if (at === null || at === undefined) return;
    this.timer = setTimeout(() => this.wake(), Math.max(10, Number(at) - Date.now()));
    this.timer.unref();
  }

  private async attempt({ sequence, endpoint: id, body, firstAtMs, attempts }: Waiting): Promise<void> {
    const endpoint = this.store.find("webhook_endpoint", id);
    const target = endpoint?.status === "enabled" ? endpoint : undefined;
    const outcome = target && (await sendEvent(target.url, this.store.hidden("webhook_endpoint", id).secret, body, this.closing.signal));
    if (this.closing.signal.aborted) return;
    const now = Date.now();
    // Stripe does not send events later that an endpoint missed while it was disabled.
    if (!outcome || outcome.kind === "delivered" || now - firstAtMs > givenUpAfterMs) {
      this.store.statement("delete from endpoint_deliveries where sequence = ?").run(sequence);
      return;
    }
    this.log.warn({ endpoint: id, outcome }, "webhook not delivered to an endpoint made by the API");
    const nextAtMs = now + Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempts, 10));
    this.store
      .statement("update endpoint_deliveries set attempts = attempts + 1, next_at_ms = ? where sequence = ?")
      .run(nextAtMs, sequence);
  }
}
