/**
 * The only module that uses IndexedDB, with one store for everything kept there.
 *
 * - Each kind has a `read` function: a damaged or foreign value counts as absent, so the rest of the product never sees it.
 * - A value of a newer version of the product is not read, overwritten or removed, so that an older tab can't damage it.
 * - A value that can't be stored (private window, full disk) is kept in memory until the page is closed, and the caller is
 *   told.
 */
import type { UseStore } from "idb-keyval";
import { createStore, promisifyRequest } from "idb-keyval";

export interface Kind<Value> {
  /** The format version written today. A stored value without `version` has version 1. */
  version: number;
  /** Whether the version is written into the value; false if the specification fixes the value's exact fields. */
  stamped: boolean;
  /** Returns the value, or undefined if the stored value is not valid. */
  read: (stored: unknown) => Value | undefined;
}

/** `newer`: there is a value, but only a newer version of the product can read it. */
export type Found<Value> = { state: "found"; value: Value } | { state: "absent" } | { state: "newer" };

/** The result of a write. Unless it is `kept`, the value is lost when the page is closed. */
export type Kept = "kept" | "full" | "closed" | "newer";

export interface Entry {
  kind: Pick<Kind<unknown>, "version"> & { stamped?: boolean };
  key: string;
  /** Undefined removes the key. */
  value: unknown;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class NewerData extends Error {
  override readonly name = "NewerData";
}

/** Values that could not be written, and keys that could not be removed (undefined), until the page is closed. */
const unkept = new Map<string, unknown>();
let opened: UseStore | undefined;

/** Closes the database when a newer version wants to upgrade it, which would otherwise wait until this tab is closed. */
function closeOnUpgrade(database: IDBDatabase): void {
  database.onversionchange = () => {
    database.close();
    opened = undefined;
  };
}

/** Uses idb-keyval's default database, because earlier versions kept their values there. Opened on first use. */
async function transact<Result>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => PromiseLike<Result>): Promise<Result> {
  opened ??= createStore("keyval-store", "keyval");
  return await opened(mode, (store) => {
    closeOnUpgrade(store.transaction.db);
    return work(store);
  });
}

function isNewer(kind: Entry["kind"], stored: unknown): boolean {
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

/** Changes all entries in one transaction, or none of them if a newer version's value is under one of the keys. */
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
    // If storage is blocked, only the values in memory exist.
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

/** Writes all entries or none of them, in one transaction, so that they stay consistent even if the page is closed meanwhile. */
export async function writeAllStored(entries: readonly Entry[]): Promise<Kept> {
  const values = entries.map(({ kind, value }) => (kind.stamped && isRecord(value) ? { ...value, version: kind.version } : value));
  const kept = await changeAll(entries, (store, index) => {
    const key = entries[index]?.key ?? "";
    if (values[index] === undefined) store.delete(key);
    else store.put(values[index], key);
  });
  for (const [index, { key }] of entries.entries()) {
    // A newer version's value is not removed. Any other failed removal applies until the page is closed, like a failed write.
    if (kept === "kept" || (kept === "newer" && values[index] === undefined)) unkept.delete(key);
    else unkept.set(key, values[index]);
  }
  return kept;
}

export async function writeStored<Value>(kind: Kind<Value>, key: string, value: Value): Promise<Kept> {
  return await writeAllStored([{ kind, key, value }]);
}

/** The result doesn't matter: if the removal failed, either nothing was stored or the value is a newer version's. */
export async function removeStored(kind: Entry["kind"], key: string): Promise<void> {
  await writeAllStored([{ kind, key, value: undefined }]);
}

/** Removes what begins with `prefix` and not with `except`; what a newer version of the product wrote stays. */
export async function removeStoredUnder(prefix: string, except?: string): Promise<void> {
  for (const key of (await readAll(prefix)).keys()) if (!except || !key.startsWith(except)) await removeStored({ version: 1 }, key);
}

/** Removes everything that has the person's id in its key or as its `owner`, also what a newer version of the product has written. */
export async function removeStoredOf(userId: string): Promise<void> {
  const isTheirs = (key: string, value: unknown) => key.includes(userId) || (isRecord(value) && value.owner === userId);
  for (const [key, value] of unkept) if (isTheirs(key, value)) unkept.delete(key);
  try {
    await transact("readwrite", async (store) => {
      const [keys, values] = await Promise.all([
        promisifyRequest(store.getAllKeys()),
        promisifyRequest(store.getAll() as IDBRequest<unknown[]>),
      ]);
      for (const [index, key] of keys.entries()) if (isTheirs(String(key), values[index])) store.delete(key);
      await promisifyRequest(store.transaction);
    });
  } catch {
    // If storage is blocked, nothing was stored.
  }
}
