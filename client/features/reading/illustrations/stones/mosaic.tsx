import { classNames } from "#client/components/class-names.ts";
import type { StoneField } from "./lay-stones.ts";
import { grout, layStones, pictureColumns, pictureRows, placeSide } from "./lay-stones.ts";
import styles from "./mosaic.module.css";

/** A picture laid in stones on one grid. Decoration beside a text, so it is silent. */
export function Mosaic({ fields }: { fields: readonly StoneField[] }) {
  const paths = fields.flatMap(layStones);
  return (
    <svg
      className={styles.mosaic}
      viewBox={`0 0 ${pictureColumns * placeSide} ${pictureRows * placeSide}`}
      aria-hidden="true"
      focusable="false"
    >
      {paths.map(({ tone, worn, side, d }) =>
        tone === "socket" ? (
          <path key={d} className={styles.socket} d={d} />
        ) : (
          <path
            key={d}
            className={classNames(styles[tone], worn && styles.worn)}
            d={d}
            strokeWidth={side}
            strokeDasharray={`${side} ${grout}`}
          />
        ),
      )}
    </svg>
  );
}
