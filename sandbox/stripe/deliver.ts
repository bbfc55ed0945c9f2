/**
 * Delivers webhooks: sends the rows of `deliveries` to the product, signed as Stripe signs, at least once. They start in order of creation and
 * run side by side, as Stripe's do, so they may overtake one another. If the product can't be reached, all deliveries wait. If it refuses an
 * event, that event alone waits. Back-off uses wall time, because the product's failures happen in real time.
 */
import { createHmac } from "node:crypto";
import type { Store } from "./store.ts";

export interface EventFault {
  kind: "delay" | "double" | "reorder" | "lose";
  eventType?: string;
  /** The number of events it applies to; 1 by default. */
  count?: number;
  delayMs?: number;
}

export interface DeliveryLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export const firstDelayMs = 250;
export const longestDelayMs = 10_000;
export const givenUpAfterMs = 3 * 24 * 60 * 60 * 1000;
const timeoutMs = 10_000;
/** How many are on their way at once. */
const sideBySide = 4;
const batchSize = 200;
const defaultDelayMs = { delay: 2000, reorder: 400 } as const;

interface Waiting {
  sequence: number;
  event: string;
  type: string;
  body: string;
  firstAtMs: number;
  nextAtMs: number;
  attempts: number;
  blocking: boolean;
  fault: string | null;
}

type Outcome = { kind: "delivered" } | { kind: "refused"; status: number } | { kind: "unreachable"; reason: string };

function signature(secret: string, body: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${digest}`;
}

export async function sendEvent(url: URL | string, secret: string, body: string, closing: AbortSignal): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        "stripe-signature": signature(secret, body),
        "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      },
      body,
      redirect: "manual",
      signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.ok ? { kind: "delivered" } : { kind: "refused", status: response.status };
  } catch (error) {
    return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
  }
}

export class Deliveries {
  private readonly store: Store;
  private readonly target: { url: URL; secret: string };
  private readonly log: DeliveryLog;
  private faults: EventFault[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private queued = false;
  private readonly closing = new AbortController();

  constructor(store: Store, target: { url: URL; secret: string }, log: DeliveryLog) {
    this.store = store;
    this.target = target;
    this.log = log;
  }

  /** Replaces the pending faults. */
  setFaults(faults: readonly EventFault[]): void {
    this.faults = faults.map((fault) => ({ ...fault, count: fault.count ?? 1 }));
  }

  pending(): number {
    return Number(this.store.statement("select count(*) as pending from deliveries where state = 'waiting'").get()?.pending ?? 0);
  }

  /** Starts the deliveries that are possible now. Called after a commit and after a back-off. */
  wake(): void {
    if (this.queued || this.closing.signal.aborted) return;
    this.queued = true;
    void this.enqueue(false);
  }

  /** Tries each waiting delivery once, regardless of back-off, and resolves after that. */
  flush(): Promise<void> {
    return this.enqueue(true);
  }

  async close(): Promise<void> {
    this.closing.abort();
    clearTimeout(this.timer);
    await this.running;
  }

  private enqueue(impatient: boolean): Promise<void> {
    this.running = this.running.then(async () => {
      this.queued = false;
      try {
        this.schedule((await this.pass(impatient)) ?? this.nextAt());
      } catch (error) {
        this.log.warn({ error: String(error) }, "webhook delivery failed unexpectedly");
        this.schedule(Date.now() + longestDelayMs);
      }
    });
    return this.running;
  }

  /** The time of the next attempt, in milliseconds of wall time. */
  private nextAt(): number | undefined {
    const row = this.store.statement("select min(max(next_at_ms, not_before_ms)) as at from deliveries where state = 'waiting'").get();
    return row?.at === null || row?.at === undefined ? undefined : Number(row.at);
  }

  private schedule(atMs: number | undefined): void {
    clearTimeout(this.timer);
    if (atMs === undefined || this.closing.signal.aborted) return;
    this.timer = setTimeout(() => this.wake(), Math.max(10, atMs - Date.now()));
    this.timer.unref();
  }

  private waiting(): Waiting[] {
    const sql = `select d.sequence, d.event, json_extract(o.data, '$.type') as type, o.data as body, d.first_at_ms, d.next_at_ms, d.attempts, d.blocking, d.fault
      from deliveries d join objects o on o.id = d.event where d.state = 'waiting' and d.not_before_ms <= ?
      order by d.reordered, case when d.reordered = 1 then -d.sequence else d.sequence end limit ${batchSize}`;
    return this.store
      .statement(sql)
      .all(Date.now())
      .map((row) => ({
        sequence: Number(row.sequence),
        event: String(row.event),
        type: String(row.type),
        body: String(row.body),
        firstAtMs: Number(row.first_at_ms),
        nextAtMs: Number(row.next_at_ms),
        attempts: Number(row.attempts),
        blocking: Number(row.blocking) === 1,
        fault: row.fault === null ? null : String(row.fault),
      }));
  }

  /** Tries the waiting deliveries. Returns undefined if all were tried, else the time of the next try of the one that blocks the others. */
  private async pass(impatient: boolean): Promise<number | undefined> {
    const tried = new Set<number>();
    for (;;) {
      const batch = this.waiting().filter((delivery) => !tried.has(delivery.sequence));
      if (batch.length === 0) return undefined;
      for (const delivery of batch) tried.add(delivery.sequence);
      const heldUntilMs = await this.sendSideBySide(batch, impatient);
      if (heldUntilMs !== undefined) return heldUntilMs;
    }
  }

  /** Returns undefined once all were tried, else the time until which all have to wait. */
  private async sendSideBySide(batch: readonly Waiting[], impatient: boolean): Promise<number | undefined> {
    const left = batch.values();
    let heldUntilMs: number | undefined;
    const lane = async (): Promise<void> => {
      for (const delivery of left) {
        if (this.closing.signal.aborted || heldUntilMs !== undefined) return;
        heldUntilMs ??= await this.tryOne(delivery, impatient);
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, lane));
    return heldUntilMs;
  }

  private async tryOne(delivery: Waiting, impatient: boolean): Promise<number | undefined> {
    if (!impatient && delivery.nextAtMs > Date.now()) return delivery.blocking ? delivery.nextAtMs : undefined;
    return this.strike(delivery) ? undefined : this.attempt(delivery);
  }

  /** Applies the first fault that matches an event, at most one for each event. Returns true if the event must not be sent now. */
  private strike(delivery: Waiting): boolean {
    if (delivery.fault !== null || delivery.attempts > 0) return false;
    const fault = this.faults.find(
      (candidate) => (candidate.count ?? 0) > 0 && (candidate.eventType === undefined || candidate.eventType === delivery.type),
    );
    if (!fault) return false;
    fault.count = (fault.count ?? 1) - 1;
    this.log.info({ event: delivery.event, type: delivery.type, fault: fault.kind }, "applying a fault to an event");
    if (fault.kind === "double") {
      this.store.statement("update deliveries set fault = 'double' where sequence = ?").run(delivery.sequence);
      delivery.fault = "double";
      return false;
    }
    if (fault.kind === "lose") {
      this.store.statement("update deliveries set fault = 'lose', state = 'lost' where sequence = ?").run(delivery.sequence);
      return true;
    }
    const notBeforeMs = Date.now() + (fault.delayMs ?? defaultDelayMs[fault.kind]);
    const reordered = fault.kind === "reorder" ? 1 : 0;
    this.store
      .statement("update deliveries set fault = ?, not_before_ms = ?, reordered = ? where sequence = ?")
      .run(fault.kind, notBeforeMs, reordered, delivery.sequence);
    return true;
  }

  /** Attempts a delivery. Returns the time until which the following ones have to wait for it, or undefined. */
  private async attempt(delivery: Waiting): Promise<number | undefined> {
    let outcome = await this.send(delivery.body);
    if (outcome.kind === "delivered" && delivery.fault === "double") outcome = await this.send(delivery.body);
    if (outcome.kind === "delivered") {
      this.store.transaction(() => {
        this.store.statement("delete from deliveries where sequence = ?").run(delivery.sequence);
        this.store.statement("update objects set data = json_set(data, '$.pending_webhooks', 0) where id = ?").run(delivery.event);
      });
      return undefined;
    }
    const attempts = delivery.attempts + 1;
    const now = Date.now();
    const state = now - delivery.firstAtMs > givenUpAfterMs ? "given_up" : "waiting";
    const nextAtMs = now + Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 10));
    const blocking = outcome.kind === "unreachable";
    const sql = "update deliveries set attempts = ?, next_at_ms = ?, blocking = ?, state = ? where sequence = ?";
    this.store.statement(sql).run(attempts, nextAtMs, Number(blocking), state, delivery.sequence);
    this.log.warn({ event: delivery.event, type: delivery.type, attempts, outcome }, "webhook not delivered");
    return blocking && state === "waiting" ? nextAtMs : undefined;
  }

  private send(body: string): Promise<Outcome> {
    return sendEvent(this.target.url, this.target.secret, body, this.closing.signal);
  }
}
