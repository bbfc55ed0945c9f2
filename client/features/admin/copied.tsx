import { Check, Copy, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useCopy } from "#client/lib/use-copy.ts";
import styles from "./copied.module.css";

/** The last letters that may not be separated from the button, so that a line break does not leave the button alone on a line. */
const together = 4;
const icons = { idle: Copy, copied: Check, failed: X };

/** A value that is pasted elsewhere, with a button that copies it. `what`: what the value is. */
export function Copied({ what, value }: { what: string; value: string }) {
  const { t } = useTranslation("admin");
  const { state, copy } = useCopy();
  const Icon = icons[state];
  const label = state === "idle" ? t("copy.label", { what }) : t(`copy.${state}`);
  return (
    <span className={styles.copied}>
      {value.slice(0, -together)}
      <span className={styles.end}>
        {value.slice(-together)}
        <button type="button" className={styles.button} aria-label={label} title={label} onClick={() => copy(value)}>
          <Icon size={14} aria-hidden="true" />
        </button>
      </span>
    </span>
  );
}
