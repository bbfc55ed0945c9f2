import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import styles from "./missing-file.module.css";

interface MissingFileProps {
  /** The frame that the file would have. */
  className: string | undefined;
  shape: { aspectRatio: string };
  icon: ReactNode;
  /** Why there is no file. */
  children: ReactNode;
  /** Undefined if trying again can't help. */
  onRetry: (() => void) | undefined;
}

/** Stands where a picture or a clip would be. */
export function MissingFile({ className, shape, icon, children, onRetry }: MissingFileProps) {
  const { t } = useTranslation("pictures");
  return (
    <div className={classNames(className, styles.missing)} style={shape}>
      {icon}
      <span>{children}</span>
      {onRetry && (
        <Button size="small" onClick={onRetry}>
          {t("retry")}
        </Button>
      )}
    </div>
  );
}
