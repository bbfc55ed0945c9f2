import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { classNames } from "./class-names.ts";
import styles from "./spinner.module.css";

const cells = [0, 1, 2, 3, 4, 5, 6, 7, 8];

interface SpinnerProps {
  size?: "small" | "large";
  /** What the person is waiting for. Without a label the spinner is decoration beside a text that says so. */
  label?: string;
}

/** A spinner of tiles that settle into place. */
export function Spinner({ size = "large", label }: SpinnerProps) {
  const drawing = (
    <svg className={classNames(styles.spinner, styles[size])} viewBox="0 0 17 17" aria-hidden="true">
      {cells.map((cell) => (
        <rect key={cell} x={(cell % 3) * 6} y={Math.floor(cell / 3) * 6} width="5" height="5" />
      ))}
    </svg>
  );
  if (!label) return drawing;
  return (
    <span role="status" className={styles.labelled}>
      {drawing}
      <span>{label}</span>
    </span>
  );
}

/** The spinner of a page that is loading. It appears after 200 ms, because a spinner that only flashes is worse than none. */
export function PageSpinner() {
  const { t } = useTranslation("common");
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return <div className={styles.page}>{shown && <Spinner label={t("loading")} />}</div>;
}
