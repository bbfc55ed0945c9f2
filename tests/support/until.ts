import { waitUntil } from "#server/embedded/processes.ts";

/** Waits until the condition holds; throws after `timeoutMs` with `what` in the message. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 30_000): Promise<void> {
  if (!(await waitUntil(condition, timeoutMs, 5))) throw new Error(`timed out waiting for: ${what}`);
}
