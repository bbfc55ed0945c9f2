import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import styles from "./alert.module.css";
import { classNames } from "./class-names.ts";

const icons = { info: Info, good: CircleCheck, warning: TriangleAlert, danger: CircleAlert };

interface AlertProps {
  tone?: keyof typeof icons;
  title?: string;
  /** What the person can do: a button or a link. */
  action?: ReactNode;
  children?: ReactNode;
}

/** A message next to the part it is about. Screen readers announce warnings and dangers when they appear. */
export function Alert({ tone = "info", title, action, children }: AlertProps) {
  const Icon = icons[tone];
  return (
    <div className={classNames(styles.alert, styles[tone])} role={tone === "danger" || tone === "warning" ? "alert" : "status"}>
      <Icon className={styles.icon} size={20} aria-hidden="true" />
      <div className={styles.text}>
        {title && <p className={styles.title}>{title}</p>}
        {children && <div>{children}</div>}
        {action && <div className={styles.action}>{action}</div>}
      </div>
    </div>
  );
}
