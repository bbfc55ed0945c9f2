import { Late } from "#client/components/late.tsx";
import styles from "./save-control.module.css";

const loadControl = async () => (await import("./save-control.tsx")).SaveControl;

/** The place for "Save for offline": its room is there from the first paint, the button once the page has come to rest. */
export function SaveSlot() {
  return (
    <div className={styles.slot}>
      <Late load={loadControl} />
    </div>
  );
}
