import { ChevronLeft, ChevronRight, X, ZoomIn, ZoomOut } from "lucide-react";
import type { KeyboardEvent, PointerEvent, ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useFileAddress } from "#client/lib/file-addresses.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { IconButton } from "./button.tsx";
import styles from "./picture-viewer.module.css";
import { Spinner } from "./spinner.tsx";
import { StoredClip } from "./stored-clip.tsx";
import type { ShownPicture } from "./stored-picture.tsx";

/** With a length it is a clip. */
type Shown = ShownPicture & { durationMs?: number | null };

interface PictureViewerProps {
  pictures: readonly Shown[];
  /** Which of them is shown. */
  index: number;
  onIndex: (index: number) => void;
  onClose: () => void;
  /** The buttons below the picture. */
  actions: ReactNode;
  /** What else is said about it. */
  details?: ReactNode;
}

/** A finger that moves further than this to the side turns the page. In pixels. */
const swipePixels = 48;

interface StageProps {
  picture: Shown;
  zoomed: boolean;
  /** The step to another picture. */
  onSwipe: (step: number) => void;
}

const direction = () => (document.dir === "rtl" ? -1 : 1);

function Stage({ picture, zoomed, onSwipe }: StageProps) {
  const { t } = useTranslation("pictures");
  const address = useFileAddress(picture.fileId);
  const begunAt = useRef<{ x: number; y: number } | undefined>(undefined);
  const begin = ({ clientX: x, clientY: y }: PointerEvent) => {
    begunAt.current = { x, y };
  };
  const cancel = () => {
    begunAt.current = undefined;
  };
  const end = ({ clientX, clientY }: PointerEvent) => {
    const begun = begunAt.current;
    cancel();
    if (!begun || zoomed) return;
    const [across, down] = [clientX - begun.x, clientY - begun.y];
    if (Math.abs(across) > swipePixels && Math.abs(across) > 2 * Math.abs(down)) onSwipe(across < 0 ? direction() : -direction());
  };
  const { width, height, alternative, durationMs } = picture;
  if (typeof durationMs === "number")
    return (
      <div className={styles.stage}>
        <div className={styles.clip}>
          <StoredClip clip={{ ...picture, durationMs }} />
        </div>
      </div>
    );
  return (
    <div className={styles.stage} data-zoomed={zoomed || undefined} onPointerDown={begin} onPointerUp={end} onPointerCancel={cancel}>
      {address && <img key={address} className={styles.image} src={address} alt={alternative} {...{ width, height }} draggable={false} />}
      {address === null && <p>{t("deleted")}</p>}
      {address === undefined && <Spinner label={t("loading")} />}
    </div>
  );
}

/** The buttons to the pictures before and after. */
function Turn({ index, total, onTurn }: { index: number; total: number; onTurn: (step: number) => void }) {
  const { t } = useTranslation("pictures");
  if (total < 2) return null;
  return (
    <>
      <IconButton className={styles.before} label={t("previous")} disabled={index === 0} onClick={() => onTurn(-1)}>
        <ChevronLeft size={24} aria-hidden="true" />
      </IconButton>
      <IconButton className={styles.after} label={t("next")} disabled={index === total - 1} onClick={() => onTurn(1)}>
        <ChevronRight size={24} aria-hidden="true" />
      </IconButton>
    </>
  );
}

/** One picture on the whole window: arrow keys or a swipe show the others, and it can be seen in its own size. */
export function PictureViewer({ pictures, index, onIndex, onClose, actions, details }: PictureViewerProps) {
  const { t } = useTranslation(["pictures", "common"]);
  const { number } = useFormat();
  const dialog = useRef<HTMLDialogElement>(null);
  const [zoomed, setZoomed] = useState(false);
  const picture = pictures[index];
  const total = pictures.length;

  useEffect(() => dialog.current?.showModal(), []);

  const go = (step: number) => {
    if (!pictures[index + step]) return;
    setZoomed(false);
    onIndex(index + step);
  };
  const onKeyDown = ({ key, target, currentTarget }: KeyboardEvent) => {
    // Arrow keys scroll a picture in its own size, move within a clip, and belong to a dialog above this one.
    if (zoomed || target instanceof HTMLVideoElement || (target as HTMLElement).closest("dialog") !== currentTarget) return;
    if (key === "ArrowRight") go(direction());
    if (key === "ArrowLeft") go(-direction());
    if (key === "Home") go(-index);
    if (key === "End") go(total - 1 - index);
  };
  if (!picture) return null;
  return (
    <dialog
      ref={dialog}
      className={styles.viewer}
      data-clip={typeof picture.durationMs === "number" || undefined}
      aria-label={t("pictures:view")}
      onKeyDown={onKeyDown}
      // A dialog opened inside this one fires its own close event, which React lets bubble up to here.
      onClose={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={styles.head}>
        <p className={styles.place}>{total > 1 && t("pictures:position", { number: number(index + 1), total: number(total) })}</p>
        {typeof picture.durationMs !== "number" && (
          <IconButton label={t(zoomed ? "pictures:zoomOut" : "pictures:zoomIn")} aria-pressed={zoomed} onClick={() => setZoomed(!zoomed)}>
            {zoomed ? <ZoomOut size={20} aria-hidden="true" /> : <ZoomIn size={20} aria-hidden="true" />}
          </IconButton>
        )}
        <IconButton label={t("common:close")} onClick={onClose}>
          <X size={20} aria-hidden="true" />
        </IconButton>
      </div>
      <Stage picture={picture} zoomed={zoomed} onSwipe={go} />
      <Turn index={index} total={total} onTurn={go} />
      <div className={styles.foot}>
        <p className={styles.words}>{picture.alternative}</p>
        {details}
        <div className={styles.actions}>{actions}</div>
      </div>
    </dialog>
  );
}
