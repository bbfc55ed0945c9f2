/**
 * The only module that uses IndexedDB, with one store for everything kept there.
 *
 * - Each kind says how it is read: what is damaged or foreign counts as absent and never reaches the product.
 * - What a newer version of the product kept is not read, not overwritten and not removed: an older tab must not spoil it.
 * - What could not be kept (a private window, a full disk) lives in memory as long as the page, and the caller is told.
 */
import type { UseStore } from "idb-keyval";
import { createStore, promisifyRequest } from "idb-keyval";

export interface Kind<Value> {
  /** Of the form written today. A stored value without a `version` is of form 1. */
  version: number;
  /** Whether the version is written into the value. Not where the specification gives the value's exact fields. */
  stamped: boolean;
  /** The value, or undefined where what was stored is none. */
  read: (stored: unknown) => Value | undefined;
}

/** `newer`: something is there, but only a newer version of the product can read it. */
export type Found<Value> = { state: "found"; value: Value } | { state: "absent" } | { state: "newer" };

/** What became of a write. All but `kept` last only as long as the page. */
export type Kept = "kept" | "full" | "closed" | "newer";

export interface Entry {
  kind: Kind<unknown>;
  key: string;
  /** Undefined: nothing is to be kept under the key. */
  value: unknown;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class NewerData extends Error {
  override readonly name = "NewerData";
}

/** What the device refused to keep, or to let go of (undefined), for as long as the page lives. */
const unkept = new Map<string, unknown>();
let opened: UseStore | undefined;

/** A newer version that wants to rebuild the database must not wait for this tab to be closed. */
function giveWay(database: IDBDatabase): void {
  database.onversionchange = () => {
    database.close();
    opened = undefined;
  };
}

/** idb-keyval's own default database, opened on first use: what earlier versions kept there is found again. */
async function transact<Result>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => PromiseLike<Result>): Promise<Result> {
  opened ??= createStore("keyval-store", "keyval");
  return await opened(mode, (store) => {
    giveWay(store.transaction.db);
    return work(store);
  });
}

function isNewer(kind: Kind<unknown>, stored: unknown): boolean {
  return isRecord(stored) && typeof stored.version === "number" && stored.version > kind.version;
}

function found<Value>(kind: Kind<Value>, stored: unknown): Found<Value> {
  if (isNewer(kind, stored)) return { state: "newer" };
  const value = stored === undefined ? undefined : kind.read(stored);
  return value === undefined ? { state: "absent" } : { state: "found", value };
}

function outcomeOf(error: unknown): Kept {
  if (error instanceof NewerData) return "newer";
  return error instanceof DOMException && error.name === "QuotaExceededError" ? "full" : "closed";
}

/** Changes `keys` in one transaction, all or none, unless a newer version's value stands under one of them. */
async function changeAll(entries: readonly Omit<Entry, "value">[], change: (store: IDBObjectStore, index: number) => void): Promise<Kept> {
  try {
    await transact("readwrite", async (store) => {
      const present = await Promise.all(entries.map(({ key }) => promisifyRequest(store.get(key) as IDBRequest<unknown>)));
      if (entries.some(({ kind }, index) => isNewer(kind, present[index]))) throw new NewerData();
      for (const index of entries.keys()) change(store, index);
      await promisifyRequest(store.transaction);
    });
    return "kept";
  } catch (error) {
    return outcomeOf(error);
  }
}

export async function findStored<Value>(kind: Kind<Value>, key: string): Promise<Found<Value>> {
  if (unkept.has(key)) return found(kind, unkept.get(key));
  try {
    return found(kind, await transact("readonly", (store) => promisifyRequest(store.get(key) as IDBRequest<unknown>)));
  } catch {
    return { state: "absent" };
  }
}

export async function readStored<Value>(kind: Kind<Value>, key: string): Promise<Value | undefined> {
  const result = await findStored(kind, key);
  return result.state === "found" ? result.value : undefined;
}

async function readAll(prefix: string): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>();
  try {
    const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
    const [keys, values] = await transact("readonly", (store) =>
      Promise.all([promisifyRequest(store.getAllKeys(range)), promisifyRequest(store.getAll(range) as IDBRequest<unknown[]>)]),
    );
    for (const [index, key] of keys.entries()) all.set(String(key), values[index]);
  } catch {
    // Closed storage: what lives in memory is all there is.
  }
  for (const [key, value] of unkept) if (key.startsWith(prefix)) all.set(key, value);
  return all;
}

/** Every readable value whose key begins with `prefix`. */
export async function listStored<Value>(kind: Kind<Value>, prefix: string): Promise<Value[]> {
  return [...(await readAll(prefix)).values()].flatMap((stored) => {
    const result = found(kind, stored);
    return result.state === "found" ? [result.value] : [];
  });
}

export async function listStoredKeys(prefix: string): Promise<string[]> {
  const all = await readAll(prefix);
  return [...all.keys()].filter((key) => all.get(key) !== undefined);
}

/** Keeps all entries or none of them, in one transaction: whatever ends the page, they stay of one time. */
export async function writeAllStored(entries: readonly Entry[]): Promise<Kept> {
  const values = entries.map(({ kind, value }) => (kind.stamped && isRecord(value) ? { ...value, version: kind.version } : value));
  const kept = await changeAll(entries, (store, index) => {
    const key = entries[index]?.key ?? "";
    if (values[index] === undefined) store.delete(key);
    else store.put(values[index], key);
  });
  for (const [index, { key }] of entries.entries()) {
    // What a newer version owns is not removed; else a removal that failed holds as long as the page, as a write does.
    if (kept === "kept" || (kept === "newer" && values[index] === undefined)) unkept.delete(key);
    else unkept.set(key, values[index]);
  }
  return kept;
}

export async function writeStored<Value>(kind: Kind<Value>, key: string, value: Value): Promise<Kept> {
  return await writeAllStored([{ kind, key, value }]);
}

/** Where nothing can be removed nothing was kept, or a newer version owns it. */
export async function removeStored(kind: Kind<unknown>, key: string): Promise<void> {
  await writeAllStored([{ kind, key, value: undefined }]);
}

/** Removes what stands under any key that begins with `prefix`, but for `exceptKey`. */
export async function removeStoredUnder(kind: Kind<unknown>, prefix: string, exceptKey: string | undefined): Promise<void> {
  for (const key of (await readAll(prefix)).keys()) if (key !== exceptKey) await removeStored(kind, key);
}
