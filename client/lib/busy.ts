/**
 * What must not be interrupted by a reload: an answer under way, a form half filled in. Work announces itself; typing is
 * seen, in whichever form it happens.
 */

const typedInto = "textarea, input:is([type=text], [type=email], [type=password], [type=tel], [type=url], :not([type]))";
const askEveryMs = 500;

const work = new Set<symbol>();
const typed = new Set<HTMLInputElement | HTMLTextAreaElement>();

/** Announces work; call what it returns when the work has ended. */
export function occupy(): () => void {
  const token = Symbol("work");
  work.add(token);
  return () => work.delete(token);
}

/** Call once, at start. */
export function watchTyping(): void {
  document.addEventListener("input", ({ target }) => {
    const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
    if (isField && target.matches(typedInto)) typed.add(target);
  });
}

/** A field that was sent is emptied or gone from the page. */
export function isBusy(): boolean {
  for (const field of typed) if (!field.isConnected || field.value.trim() === "") typed.delete(field);
  return work.size > 0 || typed.size > 0;
}

/** Runs at once, or as soon as nothing is under way. */
export function whenFree(run: () => void): void {
  if (isBusy()) setTimeout(whenFree, askEveryMs, run);
  else run();
}
