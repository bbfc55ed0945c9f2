import { classNames } from "#client/components/class-names.ts";
import styles from "./design.module.css";

const colours = ["paper", "raised", "sunk", "ink", "soft", "line", "strong", "accent", "good", "warning", "danger"] as const;
const steps = ["one", "two", "three", "four", "five"] as const;

/** Colours and sizes by the names the styles call them. The names are code, so they are not translated. */
export function TokenSpecimens() {
  return (
    <>
      <ul className={styles.colours}>
        {colours.map((colour) => (
          <li key={colour}>
            <span className={classNames(styles.swatch, styles[colour])} />
            <code>{colour}</code>
          </li>
        ))}
      </ul>
      <div className={styles.type}>
        {steps.map((step) => (
          <p key={step} className={styles[step]}>
            Tessera 0123456789
          </p>
        ))}
      </div>
    </>
  );
}
