/** Limits how much work that needs a whole core runs at once. Callers take turns; a caller who would wait too long is refused. */
import { DomainError } from "#domain/errors.ts";

interface Waiter {
  go: () => void;
  refuse: (error: DomainError) => void;
}

/** At least this many may always wait, however slow the machine is. */
const leastWaiting = 8;

export class Turns {
  private readonly atOnce: number;
  private readonly longestWaitMs: number;
  /** How long a turn took lately. */
  private typicalMs = 50;
  private running = 0;
  private waitingCount = 0;
  /** By caller, the next caller first. A caller who has had a turn goes to the end. */
  private readonly waiting = new Map<string, Waiter[]>();

  constructor({ atOnce, longestWaitMs }: { atOnce: number; longestWaitMs: number }) {
    this.atOnce = atOnce;
    this.longestWaitMs = longestWaitMs;
  }

  /** Throws `sign_in_busy` with retryAfterSeconds when the wait would be too long. */
  async take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.running < this.atOnce) this.running += 1;
    else await this.wait(caller);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.typicalMs += (performance.now() - startedAt - this.typicalMs) / 8;
      // Hands the turn on instead of giving it back, so that a new caller can't overtake those who wait.
      if (!this.handOn()) this.running -= 1;
    }
  }

  private wait(caller: string): Promise<void> {
    const own = this.waiting.get(caller) ?? [];
    if (this.waitingCount >= this.room()) this.makeRoom(own.length);
    return new Promise<void>((go, refuse) => {
      this.waiting.set(caller, own);
      own.push({ go, refuse });
      this.waitingCount += 1;
    });
  }

  private room(): number {
    return Math.max(leastWaiting, Math.floor((this.longestWaitMs * this.atOnce) / this.typicalMs));
  }

  /** Refuses the newest work of the caller who has the most waiting. If no other caller has more than this one, refuses this one. */
  private makeRoom(ownCount: number): void {
    const [longest = []] = [...this.waiting.values()].sort((a, b) => b.length - a.length);
    if (longest.length <= ownCount + 1) throw this.refusal();
    longest.pop()?.refuse(this.refusal());
    this.waitingCount -= 1;
  }

  private refusal(): DomainError {
    const retryAfterSeconds = Math.max(1, Math.ceil((this.waitingCount * this.typicalMs) / this.atOnce / 1_000));
    return new DomainError("sign_in_busy", "Many people are signing in right now. Wait a moment and try again", { retryAfterSeconds });
  }

  private handOn(): boolean {
    const [first] = this.waiting;
    if (!first) return false;
    const [caller, own] = first;
    const next = own.shift();
    this.waiting.delete(caller);
    if (own.length > 0) this.waiting.set(caller, own);
    this.waitingCount -= 1;
    next?.go();
    return true;
  }
}
