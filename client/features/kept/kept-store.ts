import { create } from "zustand";
import { canKeepPages, listKeptPages, removeKeptPage, removeKeptPages, savePages } from "#client/offline/kept-pages.ts";
import type { KeptPage } from "#client/sw/messages.ts";

interface KeptState {
  /**
   * `unknown` until the service worker has answered; `none` if the device can't keep anything, without a service worker or with
   * storage blocked.
   */
  status: "unknown" | "ready" | "none";
  pages: readonly KeptPage[];
  /** Paths being fetched. */
  saving: readonly string[];
  /** Paths that could not be fetched. */
  failed: readonly string[];
}

export const useKept = create<KeptState>(() => ({ status: "unknown", pages: [], saving: [], failed: [] }));

export async function refreshKept(): Promise<void> {
  if (!canKeepPages()) {
    useKept.setState({ status: "none" });
    return;
  }
  try {
    useKept.setState({ pages: await listKeptPages(), status: "ready" });
  } catch {
    useKept.setState({ status: "none" });
  }
}

/** Saves one after another, so that each shows as soon as it is saved. */
export async function save(paths: readonly string[], language: string): Promise<void> {
  useKept.setState(({ saving, failed }) => ({
    saving: [...new Set([...saving, ...paths])],
    failed: failed.filter((path) => !paths.includes(path)),
  }));
  for (const path of paths) {
    const outcome = await savePages([path], language).catch(() => ({ saved: [], failed: [path] }));
    useKept.setState(({ saving, failed }) => ({
      saving: saving.filter((other) => other !== path),
      failed: [...failed, ...outcome.failed],
    }));
    if (outcome.saved.length > 0) await refreshKept();
  }
}

export async function remove(path: string): Promise<void> {
  useKept.setState({ pages: await removeKeptPage(path).catch(() => useKept.getState().pages) });
}

export async function removeAll(): Promise<void> {
  useKept.setState({ pages: await removeKeptPages().catch(() => useKept.getState().pages), failed: [] });
}
