import { createPortal } from "react-dom";
import { Late } from "#client/components/late.tsx";
import { useAsleep } from "#client/lib/sleep.ts";

const loadControl = async () => (await import("./save-control.tsx")).SaveControl;

/** "Save for offline" in its place (save-slot.tsx) on a page whose content sleeps. */
export function SleepingSaveSlot() {
  const asleep = useAsleep();
  const place = asleep ? document.querySelector('[data-awake="save"]') : null;
  return place && createPortal(<Late load={loadControl} />, place);
}
