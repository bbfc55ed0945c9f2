/** Repeats what a person typed and tapped before it was hydrated, as if they did it now. */
import { wakeUp } from "./lib/sleep.ts";

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Whether the element is in content that sleeps, and not in a part that is alive already. */
export function isSleeping(element: Element | null): boolean {
  return element?.closest("[data-asleep], [data-awake]")?.matches("[data-asleep]") === true;
}

/** Tells React about text that the person typed, or the browser filled in. */
function replayText(field: Field, value: string): void {
  // React ignores values set through the field's own setter as unchanged; the prototype's setter bypasses that.
  field.value = field.defaultValue;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Taps the control that boot.js has remembered. */
function replayTap(control: HTMLButtonElement | HTMLInputElement): void {
  // Choosing what the browser has chosen already would change nothing.
  if (control instanceof HTMLInputElement) control.checked = false;
  control.click();
}

/**
 * Call when the frame or the page has just been hydrated, in the same task: the browser could run another tap or key before a later task,
 * and that would find the fields empty. What was meant for content that still sleeps wakes it up, and is repeated by the next call.
 */
export async function replayEarlyInput(): Promise<void> {
  const tapped = document.querySelector<HTMLButtonElement | HTMLInputElement>("[data-tapped]");
  const typed = [...document.querySelectorAll<Field>("input, textarea")].filter(
    (field) => field.value !== field.defaultValue && field.type !== "checkbox" && field.type !== "radio",
  );
  if ([tapped, ...typed].some(isSleeping)) void wakeUp();
  const tap = isSleeping(tapped) ? null : tapped;
  delete tap?.dataset.tapped;
  const texts = typed.filter((field) => !isSleeping(field)).map((field) => ({ field, value: field.value }));
  // React takes no input while it commits, and renders what was typed before it hears of the tap.
  await Promise.resolve();
  for (const { field, value } of texts) replayText(field, value);
  await Promise.resolve();
  if (tap) replayTap(tap);
}
