import styles from "./missing-tile.module.css";

const cells = Array.from({ length: 25 }, (_, index) => ({ x: index % 5, y: Math.floor(index / 5) }));

/** The picture of the not-found page: a mosaic with one tile out of place. */
export function MissingTile() {
  return (
    <svg className={styles.drawing} viewBox="0 0 76 60" aria-hidden="true">
      {cells.map(({ x, y }) =>
        x === 3 && y === 1 ? (
          <rect key="gap" className={styles.gap} x={x * 12 + 0.5} y={y * 12 + 0.5} width="9" height="9" />
        ) : (
          <rect key={`${x},${y}`} className={(x + y) % 2 ? styles.pale : styles.stone} x={x * 12} y={y * 12} width="10" height="10" />
        ),
      )}
      <rect className={styles.loose} x="63" y="44" width="10" height="10" transform="rotate(14 68 49)" />
    </svg>
  );
}
