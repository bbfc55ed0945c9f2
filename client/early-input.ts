/** Repeats what a person typed and tapped before it was hydrated, as if they did it now. */
import { wakeUp } from "./lib/sleep.ts";

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A field as the person, or the browser, has filled it in. */
interface Filled {
  field: Field;
  value: string;
  cursor: number | null;
}

/** Whether the element is in content that sleeps, and not in a part that is alive already. */
export function isSleeping(element: Element | null): boolean {
  return element?.closest("[data-asleep], [data-awake]")?.matches("[data-asleep]") === true;
}

function isFilled(field: Field): boolean {
  if (field instanceof HTMLSelectElement) return field.options[field.selectedIndex]?.defaultSelected === false;
  return field.value !== field.defaultValue && field.type !== "checkbox" && field.type !== "radio";
}

/** Tells React what the person typed or chose, or the browser filled in. */
function replayValue({ field, value, cursor }: Filled): void {
  // React may have replaced it meanwhile by what it knew.
  if (field.value !== value) {
    field.value = value;
    // Lists have no cursor, and fields for addresses don't tell where it is.
    if (typeof cursor === "number") (field as HTMLInputElement).setSelectionRange(cursor, cursor);
  }
  // React ignores a text that it believes to have seen, so it is made to believe that it has seen another.
  const { _valueTracker: seen } = field as { _valueTracker?: { setValue(value: string): void } };
  seen?.setValue(`${value} `);
  field.dispatchEvent(new Event("selectedIndex" in field ? "change" : "input", { bubbles: true }));
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
  // Only the content's lists count: the browser also restores what was chosen on an earlier visit, and a restored language is no choice.
  const filled = [...document.querySelectorAll<Field>("input, textarea, #content select")].filter(isFilled);
  if ([tapped, ...filled].some(isSleeping)) void wakeUp();
  const tap = isSleeping(tapped) ? null : tapped;
  delete tap?.dataset.tapped;
  const values = filled
    .filter((field) => !isSleeping(field))
    .map((field) => ({ field, value: field.value, cursor: (field as HTMLInputElement).selectionEnd }));
  // React takes no input while it commits, and renders what was typed before it hears of the tap.
  await Promise.resolve();
  values.forEach(replayValue);
  await Promise.resolve();
  if (tap) replayTap(tap);
}
