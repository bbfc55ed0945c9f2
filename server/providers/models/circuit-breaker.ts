/**
 * Stops asking a model that fails again and again: people learn at once that it can't be reached, instead of after a time-out each.
 * Only those whose own questions failed are stopped, until that happened to several people: what one person asks may be the cause.
 * Every process counts for itself, because a failure may be its own network's.
 */
const failuresToOpen = 5;
const peopleToStopAll = 3;
const firstPauseMs = 10_000;
const longestPauseMs = 120_000;

interface Circuit {
  /** Since the last success. */
  failures: number;
  /** The people whose questions failed since then, up to the number at which everybody is stopped. */
  people: Set<string>;
  /** How long none of these people may ask; 0 while everybody may. */
  pauseMs: number;
  /** On the clock of `nowMs`. */
  nextTryAtMs: number;
  /** One of them is asking it, to see whether it works again. */
  trying: boolean;
}

export class CircuitBreaker {
  private readonly circuits = new Map<string, Circuit>();
  /** The pauses that other processes have announced: their ends on the clock of `nowMs`, by key. */
  private readonly told = new Map<string, number>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** Returns 0 if the person may ask the model, or else in how many milliseconds they may. */
  waitMs(key: string, person: string): number {
    const ownMs = this.stopping(key, person)?.nextTryAtMs ?? 0;
    return Math.max(ownMs - this.nowMs(), (this.told.get(key) ?? 0) - this.nowMs(), 0);
  }

  /** Notes that the model is being asked. At the try after a pause the others wait for another pause, unless it gets an answer before. */
  asked(key: string, person: string): void {
    const circuit = this.stopping(key, person);
    if (!circuit || this.waitMs(key, person) > 0) return;
    circuit.nextTryAtMs = this.nowMs() + circuit.pauseMs;
    circuit.trying = true;
  }

  /** Notes that another process, the only one that asks the model, has paused it for everybody. */
  pausedElsewhere(key: string, pauseMs: number): void {
    this.told.set(key, this.nowMs() + Math.min(pauseMs, longestPauseMs));
  }

  worked(key: string): void {
    this.circuits.delete(key);
    this.told.delete(key);
  }

  failed(key: string, person: string): void {
    const circuit = this.circuits.get(key) ?? { failures: 0, people: new Set<string>(), pauseMs: 0, nextTryAtMs: 0, trying: false };
    this.circuits.set(key, circuit);
    circuit.failures += 1;
    if (circuit.people.size < peopleToStopAll) circuit.people.add(person);
    const isOpen = circuit.pauseMs > 0;
    // Answers that were under way when it opened fail as well, and say nothing new.
    if (isOpen ? !circuit.trying : circuit.failures < failuresToOpen) return;
    circuit.pauseMs = isOpen ? Math.min(circuit.pauseMs * 2, longestPauseMs) : firstPauseMs;
    circuit.nextTryAtMs = this.nowMs() + circuit.pauseMs;
    circuit.trying = false;
  }

  private stopping(key: string, person: string): Circuit | undefined {
    const circuit = this.circuits.get(key);
    if (!circuit || circuit.pauseMs === 0) return undefined;
    return circuit.people.size >= peopleToStopAll || circuit.people.has(person) ? circuit : undefined;
  }
}
