import { useMemo } from "react";
import type { ModelCategory } from "#domain/models.ts";
import { classNames } from "./class-names.ts";
import styles from "./model-pattern.module.css";
import { fieldCells, patternPaths } from "./mosaic-pattern.ts";

interface ModelPatternProps {
  modelId: string;
  /** Decides the colour of the figure. */
  category: ModelCategory;
  className?: string | undefined;
}

/** A model's tile. It is decoration beside the model's name, so screen readers skip it. The class sets its size. */
export function ModelPattern({ modelId, category, className }: ModelPatternProps) {
  const paths = useMemo(() => patternPaths(modelId), [modelId]);
  return (
    <svg className={classNames(styles.pattern, styles[category], className)} viewBox={`0 0 ${fieldCells} ${fieldCells}`} aria-hidden="true">
      <path className={styles.ground} d={paths.ground} />
      <path className={styles.pale} d={paths.pale} />
      <path className={styles.figure} d={paths.figure} />
    </svg>
  );
}
