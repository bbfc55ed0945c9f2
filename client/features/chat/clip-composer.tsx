import { ImagePlus, X } from "lucide-react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { beginClipWith, useClipWish, wishClip } from "#client/lib/clip-wish.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { ClipShape } from "#domain/clips.ts";
import { aspectOf, clipSeconds, clipShapes } from "#domain/clips.ts";
import styles from "./picture-composer.module.css";
import { useUpload } from "./use-upload.ts";

/** The names of shapes are those of pictures. */
const shapeNames = {
  "16:9": "pictures:sizes.1536x864",
  "9:16": "pictures:sizes.864x1536",
  "1:1": "pictures:sizes.1024x1024",
  "4:3": "pictures:sizes.1536x1024",
  "3:4": "pictures:sizes.1024x1536",
} as const satisfies Record<ClipShape, string>;

function Shape({ shape }: { shape: ClipShape }) {
  const { width, height } = aspectOf(shape);
  const scale = 16 / Math.max(width, height);
  const [drawnWidth, drawnHeight] = [width * scale, height * scale];
  return (
    <svg className={styles.shape} viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
      <rect x={9 - drawnWidth / 2} y={9 - drawnHeight / 2} width={drawnWidth} height={drawnHeight} rx="1" />
    </svg>
  );
}

/** The picture with which the clip begins, or the way to choose one. */
function FirstPicture() {
  const { t } = useTranslation(["clips", "pictures"]);
  const reference = useClipWish((wish) => wish.reference);
  const field = useRef<HTMLInputElement>(null);
  const { busy, fault, upload } = useUpload(beginClipWith);
  if (reference)
    return (
      <>
        <div className={styles.reference}>
          <StoredPicture picture={reference} />
          <IconButton className={styles.remove} label={t("pictures:removeReference")} onClick={() => beginClipWith(null)}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </div>
        <p className={styles.check}>{t("clips:pictureShape")}</p>
      </>
    );
  return (
    <>
      <input
        ref={field}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        hidden
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = "";
          if (file) void upload([file]);
        }}
      />
      <Button size="small" variant="quiet" busy={busy} onClick={() => field.current?.click()}>
        <ImagePlus size={16} aria-hidden="true" />
        {t("pictures:addReference")}
      </Button>
      {busy && <Spinner size="small" label={t("pictures:uploading")} />}
      {fault !== null && (
        <p role="alert" className={styles.fault}>
          {t(`pictures:uploadFaults.${fault}`)}
        </p>
      )}
    </>
  );
}

/** How a clip is asked for: above the composer's buttons while a model that makes clips is chosen. */
export function ClipComposer() {
  const { t } = useTranslation(["clips", "pictures"]);
  const { seconds: inSeconds } = useFormat();
  const { seconds, shape } = useClipWish((wish) => wish.options);
  const hasPicture = useClipWish((wish) => wish.reference !== null);
  return (
    <div className={styles.options}>
      <div className={styles.row}>
        {!hasPicture && (
          <Segmented
            className={styles.tight ?? ""}
            label={t("pictures:size")}
            options={clipShapes.map((value) => ({
              value,
              label: (
                <>
                  <Shape shape={value} />
                  <span className={styles.hidden}>{t(shapeNames[value])}</span>
                </>
              ),
            }))}
            value={shape}
            onChange={(value) => wishClip({ shape: value })}
          />
        )}
        <Segmented
          className={styles.tight ?? ""}
          label={t("clips:length")}
          options={clipSeconds.map((value) => ({ value: String(value), label: inSeconds(value) }))}
          value={String(seconds)}
          onChange={(value) => wishClip({ seconds: clipSeconds.find((each) => String(each) === value) ?? seconds })}
        />
        <FirstPicture />
      </div>
    </div>
  );
}
