/** Counts connections, calls or streams for each key, in this process. */
import { DomainError } from "#domain/errors.ts";
import { clientSite, siteShare } from "./client-network.ts";

export class Counts {
  private readonly counts = new Map<string, number>();
  total = 0;

  hasRoom(key: string, limit: number): boolean {
    return (this.counts.get(key) ?? 0) < limit;
  }

  /** Adds one to the key's count. Returns a function that takes it back; calling it again has no effect. */
  add(key: string): () => void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.total += 1;
    let counted = true;
    return () => {
      if (!counted) return;
      counted = false;
      this.total -= 1;
      const left = (this.counts.get(key) ?? 0) - 1;
      if (left > 0) this.counts.set(key, left);
      else this.counts.delete(key);
    };
  }
}

/** Counts for each network (client-network.ts), and for the site that an IPv6 network belongs to. */
export class NetworkCounts {
  private readonly networks = new Counts();
  private readonly sites = new Counts();

  get total(): number {
    return this.networks.total;
  }

  hasRoom(network: string, limit: number): boolean {
    const site = clientSite(network);
    return this.networks.hasRoom(network, limit) && (site === undefined || this.sites.hasRoom(site, limit * siteShare));
  }

  add(network: string): () => void {
    const site = clientSite(network);
    const leave = [this.networks.add(network), ...(site === undefined ? [] : [this.sites.add(site)])];
    return () => {
      for (const each of leave) each();
    };
  }
}

/** Does `work` if fewer than `limit` calls of the key are running. Otherwise throws `rate_limited` with retryAfterSeconds. */
export async function fewAtOnce<T>(counts: Counts | NetworkCounts, key: string, limit: number, work: () => Promise<T>): Promise<T> {
  if (!counts.hasRoom(key, limit)) throw new DomainError("rate_limited", "Too many requests. Wait a moment", { retryAfterSeconds: 1 });
  const leave = counts.add(key);
  try {
    return await work();
  } finally {
    leave();
  }
}
