import { classNames } from "#client/components/class-names.ts";
import type { StoneField } from "./lay-stones.ts";
import { grout, layStones, pictureColumns, pictureRows, placeSide } from "./lay-stones.ts";
import styles from "./mosaic.module.css";

/** A picture of stones on one grid. It is decoration beside a text, so screen readers skip it. */
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
