import { ChevronLeft, ChevronRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#client/components/button.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import styles from "./versions.module.css";

interface VersionsProps {
  /** From 1. */
  number: number;
  total: number;
  /** Goes one version back (−1) or forward (1). */
  onWalk: (step: number) => void;
}

/** Buttons that switch between the versions of a message. At either end they stay focusable, so that keyboard users keep their place. */
export function Versions({ number, total, onWalk }: VersionsProps) {
  const { t } = useTranslation("chat");
  const format = useFormat();
  if (total < 2) return null;
  const walk = (step: number) => {
    if (number + step >= 1 && number + step <= total) onWalk(step);
  };
  return (
    <div className={styles.versions}>
      <IconButton className={styles.step} label={t("versions.previous")} aria-disabled={number === 1} onClick={() => walk(-1)}>
        <ChevronLeft size={18} aria-hidden="true" />
      </IconButton>
      <span role="status">
        <span aria-hidden="true">
          {format.number(number)}/{format.number(total)}
        </span>
        <VisuallyHidden>{t("versions.position", { number: format.number(number), total: format.number(total) })}</VisuallyHidden>
      </span>
      <IconButton className={styles.step} label={t("versions.next")} aria-disabled={number === total} onClick={() => walk(1)}>
        <ChevronRight size={18} aria-hidden="true" />
      </IconButton>
    </div>
  );
}
