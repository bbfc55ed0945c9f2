import type { KeyboardEvent, ReactNode } from "react";
import { useId, useRef } from "react";
import styles from "./tabs.module.css";

interface TabsProps<Value extends string> {
  label: string;
  tabs: readonly { value: Value; label: ReactNode }[];
  value: Value;
  onChange: (value: Value) => void;
  /** The content of the open tab. */
  children: ReactNode;
}

const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs as the ARIA authoring guide describes them: one tab stop, and arrow keys between the tabs. */
export function Tabs<Value extends string>({ label, tabs, value, onChange, children }: TabsProps<Value>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent) {
    const step = steps[event.key];
    if (!step) return;
    const current = tabs.findIndex((tab) => tab.value === value);
    const nextIndex = (current + step + tabs.length) % tabs.length;
    const next = tabs[nextIndex];
    if (!next) return;
    event.preventDefault();
    onChange(next.value);
    list.current?.querySelectorAll("button")[nextIndex]?.focus();
  }

  return (
    <div>
      <div role="tablist" aria-label={label} className={styles.list} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`${id}-${tab.value}`}
            className={styles.tab}
            aria-selected={tab.value === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onChange(tab.value)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} className={styles.panel}>
        {children}
      </div>
    </div>
  );
}
