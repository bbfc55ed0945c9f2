import { vi } from "vitest";

const origin = "http://tessera.test";

/** The part of the browser's Cache that the worker uses; keys are path and query. */
class MemoryCache {
  readonly entries = new Map<string, Response>();

  async match(address: string | Request, { ignoreSearch = false } = {}): Promise<Response | undefined> {
    const { pathname, search } = new URL(typeof address === "string" ? address : address.url, origin);
    const key = [...this.entries.keys()].find((known) => (ignoreSearch ? known.split("?")[0] === pathname : known === pathname + search));
    return key === undefined ? undefined : this.entries.get(key)?.clone();
  }

  async put(address: string, response: Response): Promise<void> {
    this.entries.set(address, response);
  }

  async delete(address: string): Promise<boolean> {
    return this.entries.delete(address);
  }

  async keys(): Promise<{ url: string }[]> {
    return [...this.entries.keys()].map((key) => ({ url: origin + key }));
  }
}

export interface WorkerStage {
  stores: Map<string, MemoryCache>;
  registration: { installing: object | null; waiting: object | null };
}

/** Stubs the service worker APIs that its modules use. Call it before importing them. */
export function stubWorker(): WorkerStage {
  const stores = new Map<string, MemoryCache>();
  const registration: WorkerStage["registration"] = { installing: null, waiting: null };
  const open = async (name: string) => {
    const known = stores.get(name) ?? new MemoryCache();
    stores.set(name, known);
    return known;
  };
  vi.stubGlobal("caches", {
    open,
    keys: async () => [...stores.keys()],
    delete: async (name: string) => stores.delete(name),
    match: async (address: string, { cacheName }: { cacheName?: string } = {}) => {
      const searched = cacheName === undefined ? [...stores.values()] : [stores.get(cacheName)];
      for (const store of searched) {
        const found = await store?.match(address);
        if (found) return found;
      }
      return undefined;
    },
  });
  vi.stubGlobal("self", { __WB_MANIFEST: [], clients: { matchAll: async () => [] }, registration, location: new URL(origin) });
  return { stores, registration };
}
