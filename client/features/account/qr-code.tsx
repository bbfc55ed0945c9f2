import { encode } from "uqr";
import styles from "./two-step.module.css";

/** Modules of white around the code, without which readers may not find it (ISO/IEC 18004). */
const quietZone = 4;

/** One square per dark module, joined within each row. */
function drawingOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
}

/** Black on white in either theme, because not every reader finds a light code on a dark ground. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: quietZone });
  return (
    <svg role="img" aria-label={label} className={styles.qr} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="white" />
      <path d={drawingOf(data)} fill="black" />
    </svg>
  );
}
