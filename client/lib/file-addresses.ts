/** Signed addresses at which this browser can read its person's files without a token. They are requested in batches, and renewed. */
import { useEffect } from "react";
import { create } from "zustand";
import { api } from "./api.ts";
import { sessionStore } from "./session-store.ts";

interface Known {
  /** Null: there is no such file any more. */
  address: string | null;
  expiresAtMs: number;
}

interface AddressState {
  known: Readonly<Record<string, Known>>;
  /** The last call failed; the next picture that is shown, or `retryAddresses`, asks again. */
  failed: boolean;
}

const useAddresses = create<AddressState>(() => ({ known: {}, failed: false }));

/** An address that expires within this time is requested again. */
const spareMs = 5 * 60_000;
const atOnce = 100;

const wanted = new Set<string>();
let isScheduled = false;

function isFresh(known: Known | undefined): boolean {
  return known !== undefined && (known.address === null || known.expiresAtMs - spareMs > Date.now());
}

async function askNow(): Promise<void> {
  isScheduled = false;
  const ids = [...wanted].slice(0, atOnce);
  for (const id of ids) wanted.delete(id);
  if (wanted.size > 0) schedule();
  if (ids.length === 0) return;
  try {
    const { addresses } = await api("POST /api/files/addresses", { body: { ids } });
    const found = Object.fromEntries(
      addresses.map(({ id, address, expiresAt }) => [id, { address, expiresAtMs: Date.parse(expiresAt) }] as const),
    );
    const gone = Object.fromEntries(ids.filter((id) => !found[id]).map((id) => [id, { address: null, expiresAtMs: 0 }] as const));
    useAddresses.setState(({ known }) => ({ known: { ...known, ...found, ...gone }, failed: false }));
  } catch {
    useAddresses.setState({ failed: true });
  }
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  // Pictures that are drawn together are asked for together.
  setTimeout(() => void askNow(), 20);
}

function want(id: string): void {
  if (isFresh(useAddresses.getState().known[id])) return;
  wanted.add(id);
  schedule();
}

/** Undefined until it is known, and null if the file was deleted. */
export function useFileAddress(id: string): string | null | undefined {
  const known = useAddresses((state) => state.known[id]);
  useEffect(() => want(id), [id]);
  return known?.address;
}

export function useAddressesFailed(): boolean {
  return useAddresses((state) => state.failed);
}

/** After a failure, or if a picture could not be loaded at its address. */
export function retryAddress(id: string): void {
  useAddresses.setState(({ known: { [id]: _old, ...known } }) => ({ known, failed: false }));
  want(id);
}

/** Whether the address has expired, so that a new one helps. */
export function hasEnded(id: string): boolean {
  const known = useAddresses.getState().known[id];
  return known !== undefined && known.expiresAtMs < Date.now();
}

export function forgetFile(id: string): void {
  useAddresses.setState(({ known }) => ({ known: { ...known, [id]: { address: null, expiresAtMs: 0 } } }));
}

// The next person who signs in on this device must not see anything of the previous one.
let userId = sessionStore.getState().user?.id;
sessionStore.subscribe(({ user }) => {
  if (user?.id === userId) return;
  userId = user?.id;
  wanted.clear();
  useAddresses.setState({ known: {}, failed: false });
});
