/**
 * Moves the whole product's business time. On the way to the target the clock stops at each time at which Stripe or the product
 * has work to do, and waits until the webhook deliveries, the inbox and the outbox are empty. So everything happens in the
 * order in which it would happen in real time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClock } from "../clock.ts";
import type { Duration } from "./duration.ts";
import { addDuration } from "./duration.ts";
import type { ProductClock, ProductState } from "./product-clock.ts";
import { ProductUnreachable } from "./product-clock.ts";

/** The part of the Stripe sandbox that depends on time. */
export interface TimedStripe {
  nextDueAt(): Date | null;
  runDue(now: Date): Promise<void>;
  /** Webhook deliveries under way or about to start. */
  pendingDeliveries(): number;
}

export interface StepperOptions {
  clock: SandboxClock;
  stripe: TimedStripe;
  product: ProductClock;
  /** A step that makes no progress for this long is given up. */
  stallMs?: number;
  /** How long the product may be unreachable, which allows for a restart. */
  unreachableMs?: number;
  /** A pause at the end, so that every process has read the new time. */
  finalPauseMs?: number;
}

export interface Stepper {
  /**
   * Resolves to the new time. A second call waits for the first. Rejects with a StepStalled if a step is given up; time then
   * stays where it is.
   */
  advance(duration: Duration): Promise<Date>;
  moving(): boolean;
  close(): void;
}

export class StepStalled extends Error {
  override readonly name = "StepStalled";
}

const shortestWaitMs = 5;
const longestWaitMs = 50;
/** A step that still has work after this long is given up as well, even if it makes progress. */
const longestStepMs = 10 * 60_000;

function isDue(instant: Date | null, now: Date): boolean {
  return instant !== null && instant <= now;
}

function earliest(instants: readonly (Date | null)[], target: Date): Date {
  return instants.reduce<Date>((first, instant) => (instant !== null && instant < first ? instant : first), target);
}

/** Waits during a step, and throws if the pending work does not change for too long. */
class Patience {
  private readonly stallMs: number;
  private readonly startedAt = performance.now();
  private changedAt = performance.now();
  private last = "";
  private waitMs = shortestWaitMs;

  constructor(stallMs: number) {
    this.stallMs = stallMs;
  }

  async wait(pending: string): Promise<void> {
    const now = performance.now();
    if (pending !== this.last) {
      this.last = pending;
      this.changedAt = now;
      this.waitMs = shortestWaitMs;
    }
    if (now - this.changedAt > this.stallMs || now - this.startedAt > longestStepMs)
      throw new StepStalled(`Time stands still; still to be done: ${pending}.`);
    await sleep(this.waitMs);
    this.waitMs = Math.min(this.waitMs * 1.5, longestWaitMs);
  }
}

function describePending(deliveries: number, state: ProductState, now: Date): string {
  const parts = [];
  if (deliveries > 0) parts.push(`${deliveries} webhook deliveries`);
  if (state.pending > 0) parts.push(`${state.pending} inbox and outbox rows of the product`);
  if (isDue(state.nextDueAt, now)) parts.push(`the product's work due at ${state.nextDueAt?.toISOString() ?? ""}`);
  return parts.join(", ");
}

/** Moves the clock from one due time to the next, and waits at each until no work is left. */
class Walker {
  closed = false;
  private readonly options: StepperOptions;

  constructor(options: StepperOptions) {
    this.options = options;
  }

  async walk(duration: Duration): Promise<Date> {
    const { clock, stripe, product, finalPauseMs = 250 } = this.options;
    const found = await this.reach(() => product.read());
    clock.moveTo(found.now);
    let state = await this.settle();
    const target = addDuration(clock.now(), duration);
    for (;;) {
      clock.moveTo(earliest([stripe.nextDueAt(), state.nextDueAt], target));
      const instant = clock.now();
      const moved = await this.reach(() => product.moveTo(instant));
      state = await this.settle(moved);
      if (instant >= target) break;
    }
    await sleep(finalPauseMs);
    return clock.now();
  }

  /** Calls the product until it answers, because it may be restarting. */
  private async reach(call: () => Promise<ProductState>): Promise<ProductState> {
    const { unreachableMs = 15_000 } = this.options;
    const startedAt = performance.now();
    for (;;) {
      if (this.closed) throw new StepStalled("The sandbox is closing.");
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof ProductUnreachable) || performance.now() - startedAt > unreachableMs) throw error;
        await sleep(longestWaitMs);
      }
    }
  }

  /**
   * Waits until no work is left at the present time. After work it must see that twice, because the product may have sent its
   * state before it received the last delivery.
   */
  private async settle(known?: ProductState): Promise<ProductState> {
    const { clock, stripe, product, stallMs = 60_000 } = this.options;
    const patience = new Patience(stallMs);
    let state = known;
    let restSeen = known !== undefined;
    for (;;) {
      if (isDue(stripe.nextDueAt(), clock.now())) {
        await stripe.runDue(clock.now());
        state = undefined;
        restSeen = false;
      }
      const before = stripe.pendingDeliveries();
      state ??= await this.reach(() => product.read());
      const now = clock.now();
      const pending = describePending(Math.max(before, stripe.pendingDeliveries()), state, now);
      if (pending === "" && !isDue(stripe.nextDueAt(), now)) {
        if (restSeen) return state;
        restSeen = true;
      } else {
        restSeen = false;
        await patience.wait(pending === "" ? `Stripe's work due at ${stripe.nextDueAt()?.toISOString() ?? ""}` : pending);
      }
      state = undefined;
    }
  }
}

/** Runs moves one after another, in the order of the calls. */
export function createStepper(options: StepperOptions): Stepper {
  const walker = new Walker(options);
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    advance(duration) {
      waiting += 1;
      const result = queue
        .then(() => walker.walk(duration))
        .finally(() => {
          waiting -= 1;
        });
      queue = result.catch(() => undefined);
      return result;
    },
    moving: () => waiting > 0,
    close() {
      walker.closed = true;
    },
  };
}
