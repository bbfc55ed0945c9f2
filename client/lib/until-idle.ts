import { untilAwake } from "./sleep.ts";

let idle: Promise<void> | undefined;
let rested: Promise<void> | undefined;
let late: Promise<void> | undefined;

/** How long a page that nobody touches is left alone after it has loaded. */
const restMs = 4_000;

/** What shows that somebody uses the page, or that it has something to say. */
const signs = ["pointerover", "keydown", "focusin", "scroll", "offline"];

function nextIdle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no requestIdleCallback.
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 3_000 });
    else setTimeout(resolve, 400);
  });
}

/** Resolves at the first sign, or a while after the page has loaded. */
async function untilUsed(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen = new AbortController();
  for (const sign of signs) addEventListener(sign, () => resolve(), { capture: true, passive: true, signal: seen.signal });
  const rest = () => setTimeout(resolve, restMs);
  if (!navigator.onLine) resolve();
  else if (document.readyState === "complete") rest();
  else addEventListener("load", rest, { signal: seen.signal });
  await promise;
  seen.abort();
}

/** Resolves once the page is idle; for all callers at once, so that parts that come in one file are rendered together. */
export function untilIdle(): Promise<void> {
  idle ??= nextIdle();
  return idle;
}

/** Resolves once the page is idle after the first sign of its reader, or after a few seconds without one. */
export function untilRested(): Promise<void> {
  rested ??= untilUsed().then(nextIdle);
  return rested;
}

/**
 * Resolves when what nobody needs at first may come: once the page has rested and what the reader reached for is hydrated. A slow phone is
 * busy enough with the page itself. Signed-in people come to use the product, so they don't wait.
 */
export function untilLate(): Promise<void> {
  late ??= "session" in document.documentElement.dataset ? untilIdle() : untilRested().then(untilAwake);
  return late;
}
