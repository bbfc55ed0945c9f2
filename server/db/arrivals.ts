/** Counts the calls that may soon come to a batcher. The batcher waits for them, so that they share its statement. */
export class Arrivals {
  private underWay = 0;
  private readonly mostMs: number;
  private settling: Promise<void> | undefined;
  private settle: () => void = () => undefined;

  /** `mostMs`: how long a batcher waits for them at most. */
  constructor(mostMs: number) {
    this.mostMs = mostMs;
  }

  /** Counts the caller as on the way until `work` is done. */
  async expect<Result>(work: Promise<Result>): Promise<Result> {
    this.underWay += 1;
    try {
      return await work;
    } finally {
      this.underWay -= 1;
      if (this.underWay === 0) this.settle();
    }
  }

  /** Resolves when no caller is on the way any more, but at most `mostMs` after somebody first began to wait. */
  settled(): Promise<void> {
    if (this.underWay === 0) return Promise.resolve();
    this.settling ??= new Promise((resolve) => {
      this.settle = () => {
        clearTimeout(timer);
        this.settling = undefined;
        resolve();
      };
      const timer = setTimeout(this.settle, this.mostMs);
    });
    return this.settling;
  }
}
