/**
 * Whether the first page's content sleeps: it stays as the server sent it, is not hydrated, and its code is not loaded. It wakes up at
 * once as a whole (docs/decisions/0030-content-sleeps.md).
 */
import type { ReactNode } from "react";
import { use } from "react";
import { create } from "zustand";

interface SleepOptions {
  /** Loads what the content needs. Never rejects. */
  prepare: () => Promise<void>;
  /** It will wake up by itself. */
  brief: boolean;
  /** Called once the content is hydrated, or has made way for another page. At once, while the fields still have what was typed. */
  onOver: () => void;
}

interface Sleep extends SleepOptions {
  prepared: PromiseWithResolvers<void>;
  over: PromiseWithResolvers<void>;
  waking: boolean;
}

let sleep: Sleep | undefined;
let slept = false;

/** Whether the content sleeps. False shortly before it is hydrated. */
export const useAsleep = create<boolean>(() => false);

/** Call before hydration. */
export function fallAsleep(options: SleepOptions): void {
  sleep = { ...options, prepared: Promise.withResolvers(), over: Promise.withResolvers(), waking: false };
  slept = true;
  useAsleep.setState(true, true);
}

/** Hydrates the content if it sleeps. Resolves once it is hydrated, or has made way for another page. */
export async function wakeUp(): Promise<void> {
  if (!sleep) return;
  const { prepare, prepared, over, waking } = sleep;
  sleep.waking = true;
  if (!waking) prepared.resolve(prepare().then(() => useAsleep.setState(false, true)));
  await over.promise;
}

/** Resolves at once, or when content that is waking up, or soon will, is awake. */
export async function untilAwake(): Promise<void> {
  if (sleep?.waking || sleep?.brief) await sleep.over.promise;
}

/** Call once the content is hydrated, or has made way for another page. */
export function endSleep(): void {
  sleep?.onOver();
  sleep?.over.resolve();
  sleep = undefined;
  useAsleep.setState(false, true);
}

/** Whether the content slept at first, so that the reader may have scrolled before it was hydrated. */
export function hasSlept(): boolean {
  return slept;
}

/** Keeps its Suspense boundary from being hydrated for as long as the content sleeps. `over` is true for what follows the first page. */
export function Sleeping({ over, children }: { over: boolean; children: ReactNode }): ReactNode {
  if (sleep && !over) use(sleep.prepared.promise);
  return children;
}
