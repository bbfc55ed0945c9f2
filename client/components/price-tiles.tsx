import { classNames } from "./class-names.ts";
import styles from "./price-tiles.module.css";
import { fieldSize, rowsOfTiles } from "./tile-field.ts";

/** Draws a price as 1 to 50 small tiles, ten per row. It is decoration beside the number. */
export function PriceTiles({ credits, className }: { credits: number; className?: string }) {
  const { width, height } = fieldSize(credits, 10);
  return (
    <svg
      className={classNames(styles.tiles, className)}
      viewBox={`0 0 ${width} ${height}`}
      width={width * 0.8}
      height={height * 0.8}
      aria-hidden="true"
    >
      <path d={rowsOfTiles(credits, 10)} />
    </svg>
  );
}
