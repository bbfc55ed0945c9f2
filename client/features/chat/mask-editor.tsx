import { Eraser, Undo2 } from "lucide-react";
import type { KeyboardEvent, PointerEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { api } from "#client/lib/api.ts";
import type { Reference } from "#client/lib/picture-wish.ts";
import { usePictureWish } from "#client/lib/picture-wish.ts";
import { discardBy } from "./kept-references.ts";
import styles from "./mask-editor.module.css";

interface Point {
  x: number;
  y: number;
}

/** One stroke of the brush. Lengths are in the picture's pixels. */
interface Stroke {
  radius: number;
  points: Point[];
}

const keyStep = 0.04;
/** The mask's colour on the screen. The canvas lies over the picture and is half transparent, so the picture shines through. */
const shownColour = "rgb(214 73 40)";

/** Where an arrow key moves the brush; undefined for other keys. */
function movedBy(key: string, { x, y }: Point, width: number, height: number): Point | undefined {
  const step = keyStep * Math.min(width, height);
  const moves: Readonly<Record<string, Point>> = {
    ArrowLeft: { x: -step, y: 0 },
    ArrowRight: { x: step, y: 0 },
    ArrowUp: { x: 0, y: -step },
    ArrowDown: { x: 0, y: step },
  };
  const move = moves[key];
  return move && { x: Math.min(Math.max(x + move.x, 0), width), y: Math.min(Math.max(y + move.y, 0), height) };
}

function extended(stroke: Stroke | undefined, radius: number, point: Point): Stroke {
  return { radius: stroke?.radius ?? radius, points: [...(stroke?.points ?? []), point] };
}

function draw(context: CanvasRenderingContext2D, strokes: readonly Stroke[]): void {
  context.lineCap = "round";
  context.lineJoin = "round";
  for (const { radius, points } of strokes) {
    const [first, ...others] = points;
    if (!first) continue;
    context.lineWidth = radius * 2;
    context.beginPath();
    context.moveTo(first.x, first.y);
    // A line without a length draws a dot.
    context.lineTo(first.x, first.y);
    for (const { x, y } of others) context.lineTo(x, y);
    context.stroke();
  }
}

/** What is painted over is transparent in the file, as providers want it. */
async function maskFile({ width, height }: Reference, strokes: readonly Stroke[]): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "destination-out";
  draw(context, strokes);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the mask could not be encoded"))), "image/png"),
  );
}

interface CanvasProps {
  reference: Reference;
  strokes: readonly Stroke[];
  /** In the picture's pixels. */
  radius: number;
  onStrokes: (change: (strokes: readonly Stroke[]) => readonly Stroke[]) => void;
}

/** Paints with a pointer or a finger; with the keyboard, arrow keys move the brush and the space bar paints. */
function MaskCanvas({ reference: { width, height }, strokes, radius, onStrokes }: CanvasProps) {
  const { t } = useTranslation("pictures");
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<Point | null>(null);
  const painting = useRef(false);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, width, height);
    context.strokeStyle = shownColour;
    draw(context, strokes);
    if (!cursor) return;
    context.lineWidth = Math.max(width, height) / 200;
    context.beginPath();
    context.arc(cursor.x, cursor.y, radius, 0, 2 * Math.PI);
    context.stroke();
  }, [strokes, cursor, radius, width, height]);

  const placeOf = ({ clientX, clientY, currentTarget }: PointerEvent<HTMLCanvasElement>): Point => {
    const box = currentTarget.getBoundingClientRect();
    return { x: ((clientX - box.left) / box.width) * width, y: ((clientY - box.top) / box.height) * height };
  };
  const begin = (point: Point) => onStrokes((all) => [...all, { radius, points: [point] }]);
  const goOn = (point: Point) => onStrokes((all) => all.with(-1, extended(all.at(-1), radius, point)));
  const onKeyDown = (event: KeyboardEvent) => {
    const from = cursor ?? { x: width / 2, y: height / 2 };
    const to = movedBy(event.key, from, width, height);
    if (!to && event.key !== " ") return;
    event.preventDefault();
    setCursor(to ?? from);
    if (!to) begin(from);
    else if (event.shiftKey && strokes.length > 0) goOn(to);
  };
  const lift = () => {
    painting.current = false;
  };
  return (
    <canvas
      ref={canvas}
      className={styles.canvas}
      {...{ width, height }}
      tabIndex={0}
      aria-label={t("maskKeys")}
      onKeyDown={onKeyDown}
      onBlur={() => setCursor(null)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        painting.current = true;
        begin(placeOf(event));
      }}
      onPointerMove={(event) => painting.current && goOn(placeOf(event))}
      onPointerUp={lift}
      onPointerCancel={lift}
    />
  );
}

/** Says what of a picture is to change: what is painted over becomes the mask of the next picture. */
export function MaskEditor({ reference, onClose }: { reference: Reference; onClose: () => void }) {
  const { t } = useTranslation("pictures");
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [brush, setBrush] = useState(8);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const { width, height } = reference;

  const change = (mask: string | null) => {
    discardBy(() => usePictureWish.setState({ mask }));
    onClose();
  };
  const save = async () => {
    setBusy(true);
    setFailed(false);
    try {
      const file = await maskFile(reference, strokes);
      const headers = { "content-type": "image/png" };
      const { id } = await api("POST /api/files", { querystring: { name: "mask.png" }, file, headers });
      change(id);
    } catch {
      setFailed(true);
      setBusy(false);
    }
  };
  const actions = (
    <>
      <Button onClick={() => change(null)}>{t("wholePicture")}</Button>
      <Button variant="primary" disabled={strokes.length === 0} busy={busy} onClick={() => void save()}>
        {t("useMask")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t("maskTitle")} actions={actions}>
      <div className={styles.editor}>
        <p>{t("maskText")}</p>
        <div className={styles.picture}>
          <StoredPicture picture={reference} />
          <MaskCanvas {...{ reference, strokes }} radius={(Math.min(width, height) * brush) / 100} onStrokes={setStrokes} />
        </div>
        <div className={styles.tools}>
          <label className={styles.brush}>
            {t("brush")}
            <input type="range" min="2" max="20" value={brush} onChange={(event) => setBrush(Number(event.target.value))} />
          </label>
          <Button size="small" disabled={strokes.length === 0} onClick={() => setStrokes((all) => all.slice(0, -1))}>
            <Undo2 size={16} aria-hidden="true" />
            {t("undo")}
          </Button>
          <Button size="small" disabled={strokes.length === 0} onClick={() => setStrokes([])}>
            <Eraser size={16} aria-hidden="true" />
            {t("clear")}
          </Button>
        </div>
        {failed && (
          <p role="alert" className={styles.failed}>
            {t("failed")}
          </p>
        )}
      </div>
    </Dialog>
  );
}
