import { setInterval as every } from "node:timers/promises";

/**
 * Runs `work` and renews its lease in the meantime by calling `renew`. If `renew` resolves to false, somebody else has the
 * lease, and the signal passed to `work` is aborted. If `renew` throws, it is called again after the next interval.
 */
export async function whileRenewing<T>(
  everyMs: number,
  renew: () => Promise<boolean>,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const over = new AbortController();
  async function keep(): Promise<void> {
    for await (const _ of every(everyMs, undefined, { signal: over.signal })) {
      if (await renew().catch(() => true)) continue;
      lost.abort(new Error("the lease was lost"));
      return;
    }
  }
  const keeping = keep().catch(() => {});
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await keeping;
  }
}
