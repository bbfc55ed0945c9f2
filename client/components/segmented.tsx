import type { ReactNode } from "react";
import { useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./segmented.module.css";

interface SegmentedProps<Value extends string> {
  /** What is being chosen, for those who don't see the row. */
  label: string;
  options: readonly { value: Value; label: ReactNode }[];
  value: Value;
  onChange: (value: Value) => void;
  className?: string;
}

/** One of a few, all in sight: radio buttons that look like a row of tiles. Arrow keys come with them. */
export function Segmented<Value extends string>({ label, options, value, onChange, className }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <fieldset className={classNames(styles.segmented, className)}>
      <legend className={styles.legend}>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={styles.option}>
          <input type="radio" name={name} value={option.value} checked={option.value === value} onChange={() => onChange(option.value)} />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
