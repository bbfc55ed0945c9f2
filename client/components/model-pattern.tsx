import { useMemo } from "react";
import type { ModelCategory } from "#domain/models.ts";
import { classNames } from "./class-names.ts";
import styles from "./model-pattern.module.css";
import { fieldCells, patternPaths } from "./mosaic-pattern.ts";

interface ModelPatternProps {
  modelId: string;
  /** The figure's stone says the kind of model. */
  category: ModelCategory;
  className?: string | undefined;
}

/** A model's tile. Decoration beside its name, so it is silent; its size comes from the class it is given. */
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
