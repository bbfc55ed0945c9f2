import type { Explanation } from "#contract/credits/ledger.ts";
import styles from "./explanation.module.css";

type Step = Explanation["grants"][number];

/** A grant as a bar, as long as its credits: what was used up first, then what is held, then what is free. */
export function GrantBar({ step, largest }: { step: Step; largest: number }) {
  const { credits, spent, expired, takenBack, moved, remaining, held } = step;
  const left = Math.max(0, remaining);
  const parts = [
    ["spent", spent],
    ["expired", expired],
    ["takenBack", takenBack],
    ["moved", Math.max(0, -moved)],
    ["held", Math.min(held, left)],
    ["free", left - Math.min(held, left)],
  ] as const;
  const drawn = parts.map(([part, width], index) => {
    const from = parts.slice(0, index).reduce((sum, [, before]) => sum + before, 0);
    // Debt: more was used up than there was.
    return { part, from: Math.min(from, credits), to: Math.min(from + width, credits) };
  });
  return (
    <svg className={styles.bar} viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">
      {drawn.map(
        ({ part, from, to }) =>
          to > from && (
            <rect key={part} data-part={part} x={(from / largest) * 1000} width={((to - from) / largest) * 1000} y="0" height="12" />
          ),
      )}
    </svg>
  );
}
