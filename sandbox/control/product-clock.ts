import { Value } from "typebox/value";
import { ClockState } from "#contract/clock.ts";

/** The product's business time and its pending work. */
export interface ProductState {
  now: Date;
  nextDueAt: Date | null;
  pending: number;
}

export interface ProductClock {
  /** Throws a ProductUnreachable if trying again may help, a ProductRefusal if not. */
  read(): Promise<ProductState>;
  moveTo(instant: Date): Promise<ProductState>;
}

/** The product does not answer, or answers with a server error. It may be restarting. */
export class ProductUnreachable extends Error {
  override readonly name = "ProductUnreachable";
}

export class ProductRefusal extends Error {
  override readonly name = "ProductRefusal";
}

const answerTimeoutMs = 30_000;

export function createProductClock(productUrl: URL, token: string): ProductClock {
  const address = new URL("/api/sandbox/clock", productUrl);

  async function call(request: RequestInit): Promise<ProductState> {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json", "content-type": "application/json" };
    const response = await fetch(address, { ...request, headers, redirect: "error", signal: AbortSignal.timeout(answerTimeoutMs) }).catch(
      (error: unknown) => {
        throw new ProductUnreachable(`${address.href} does not answer`, { cause: error });
      },
    );
    const text = await response.text().catch(() => "");
    if (response.status >= 500 || response.status === 429) throw new ProductUnreachable(`${address.href} answered ${response.status}`);
    if (!response.ok) throw new ProductRefusal(`${address.href} answered ${response.status}: ${text.slice(0, 200)}`);
    return readState(text, address);
  }

  return {
    read: () => call({ method: "GET" }),
    moveTo: (instant) => call({ method: "PUT", body: JSON.stringify({ now: instant.toISOString() }) }),
  };
}

function readState(text: string, address: URL): ProductState {
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    throw new ProductRefusal(`${address.href} did not answer in JSON`);
  }
  if (!Value.Check(ClockState, state)) throw new ProductRefusal(`${address.href} answered in another form than the contract's`);
  return { now: new Date(state.now), nextDueAt: state.nextDueAt === null ? null : new Date(state.nextDueAt), pending: state.pending };
}
