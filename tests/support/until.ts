import { waitUntil } from "#server/embedded/processes.ts";

/** Waits for a condition; throws after `timeoutMs`, naming what was waited for. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 8_000): Promise<void> {
  if (!(await waitUntil(condition, timeoutMs, 5))) throw new Error(`waited in vain for: ${what}`);
}
