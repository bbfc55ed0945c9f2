let idle: Promise<void> | undefined;

/** Resolves once the page is idle; for all callers at once, so that parts that come in one file are rendered together. */
export function untilIdle(): Promise<void> {
  idle ??= new Promise((resolve) => {
    // Safari has no requestIdleCallback.
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 3_000 });
    else setTimeout(resolve, 400);
  });
  return idle;
}
