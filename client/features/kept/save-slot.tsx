import { Late } from "#client/components/late.tsx";
import styles from "./save-control.module.css";

const loadControl = async () => (await import("./save-control.tsx")).SaveControl;

/** The place for "Save for offline". Its space is reserved from the first paint; the button is loaded once the page is idle. */
export function SaveSlot() {
  return (
    <div className={styles.slot} data-awake="save">
      <Late load={loadControl} />
    </div>
  );
}
