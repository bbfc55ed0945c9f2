/** Every access to IndexedDB goes through here. Where storage is closed (some private windows) the product works without it. */
import { del, get, set } from "idb-keyval";

export async function readStored<Value>(key: string): Promise<Value | undefined> {
  try {
    return await get<Value>(key);
  } catch {
    return undefined;
  }
}

/** Resolves to false where nothing could be kept, for callers that must tell the person. */
export async function writeStored(key: string, value: unknown): Promise<boolean> {
  try {
    await set(key, value);
    return true;
  } catch {
    return false;
  }
}

export async function removeStored(key: string): Promise<void> {
  try {
    await del(key);
  } catch {
    // Nothing was kept, so nothing is left behind.
  }
}
