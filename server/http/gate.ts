/** Limits how many tasks, or how many bytes, this process works on at once. A task that finds no room waits in line or is refused. */
export class Gate {
  private readonly capacity: number;
  private used = 0;
  private readonly waiting: ((leave: () => void) => void)[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Returns a function that gives the room back; calling it again has no effect. Returns undefined if there is not enough room. */
  tryEnter(amount = 1): (() => void) | undefined {
    return this.used + amount > this.capacity ? undefined : this.take(amount);
  }

  /** Runs `work` when it is its turn. It takes one unit of the room. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const leave = this.tryEnter() ?? (await new Promise<() => void>((resolve) => this.waiting.push(resolve)));
    try {
      return await work();
    } finally {
      leave();
    }
  }

  private take(amount: number): () => void {
    this.used += amount;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.used -= amount;
      if (this.used < this.capacity) this.waiting.shift()?.(this.take(1));
    };
  }
}
