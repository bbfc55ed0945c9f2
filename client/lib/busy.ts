/**
 * Tracks what a reload must not interrupt: an answer being written, or a half-filled form. Code announces its work with
 * `occupy`; typing is noticed in any form.
 */

const typedInto = "textarea, input:is([type=text], [type=email], [type=password], [type=tel], [type=url], :not([type]))";
const askEveryMs = 500;

const work = new Set<symbol>();
const typed = new Set<HTMLInputElement | HTMLTextAreaElement>();

/** Announces work. Call the returned function when the work has ended. */
export function occupy(): () => void {
  const token = Symbol("work");
  work.add(token);
  return () => work.delete(token);
}

/** Starts to watch for typing. Call once, at start. */
export function watchTyping(): void {
  document.addEventListener("input", ({ target }) => {
    const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (isField && target.matches(typedInto)) typed.add(target);
  });
}

/** True while work or a half-filled field exists. Fields that were sent are empty or no longer on the page. */
export function isBusy(): boolean {
  for (const field of typed) if (!field.isConnected || field.value.trim() === "") typed.delete(field);
  return work.size > 0 || typed.size > 0;
}

/** Calls `run` now, or as soon as nothing is in progress. */
export function whenFree(run: () => void): void {
  if (isBusy()) setTimeout(whenFree, askEveryMs, run);
  else run();
}
