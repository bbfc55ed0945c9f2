import type { ReactNode } from "react";
import { useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./segmented.module.css";
import { VisuallyHidden } from "./visually-hidden.tsx";

interface SegmentedProps<Value extends string> {
  /** What is being chosen, for screen readers. */
  label: string;
  options: readonly { value: Value; label: ReactNode }[];
  value: Value;
  onChange: (value: Value) => void;
  className?: string;
}

/** A choice between a few visible options. They are radio buttons that look like tiles, so arrow keys work. */
export function Segmented<Value extends string>({ label, options, value, onChange, className }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <fieldset className={classNames(styles.segmented, className)}>
      <VisuallyHidden as="legend">{label}</VisuallyHidden>
      {options.map((option) => (
        <label key={option.value} className={styles.option}>
          <input type="radio" name={name} value={option.value} checked={option.value === value} onChange={() => onChange(option.value)} />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
