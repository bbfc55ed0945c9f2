import { Brush, ImagePlus, SlidersHorizontal, X } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { addReference, removeReference, usePictureWish, wishOptions } from "#client/lib/picture-wish.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { PictureSize } from "#domain/pictures.ts";
import { pictureLimits, pictureQualities, pictureSizes, sizeOf } from "#domain/pictures.ts";
import { MaskEditor } from "./mask-editor.tsx";
import styles from "./picture-composer.module.css";
import { useUpload } from "./use-upload.ts";

/** A size as its shape. */
function Shape({ size }: { size: PictureSize }) {
  const { width, height } = sizeOf(size);
  const scale = 16 / Math.max(width, height);
  const [drawnWidth, drawnHeight] = [width * scale, height * scale];
  return (
    <svg className={styles.shape} viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
      <rect x={9 - drawnWidth / 2} y={9 - drawnHeight / 2} width={drawnWidth} height={drawnHeight} rx="1" />
    </svg>
  );
}

const accepted = "image/png,image/jpeg,image/webp,image/gif";

/** The pictures to begin from. */
function References() {
  const { t } = useTranslation("pictures");
  const references = usePictureWish((wish) => wish.references);
  if (references.length === 0) return null;
  return (
    <ul className={styles.references} aria-label={t("references")}>
      {references.map((reference) => (
        <li key={reference.fileId} className={styles.reference}>
          <StoredPicture picture={reference} />
          <IconButton className={styles.remove} label={t("removeReference")} onClick={() => removeReference(reference.fileId)}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** Adds pictures to begin from, and says what of the first is to change. */
function ReferenceTools() {
  const { t } = useTranslation("pictures");
  const references = usePictureWish((wish) => wish.references);
  const mask = usePictureWish((wish) => wish.mask);
  const [painting, setPainting] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const { busy, fault, upload } = useUpload(addReference);
  const [first] = references;
  const room = pictureLimits.references - references.length;
  return (
    <>
      <input
        ref={field}
        type="file"
        accept={accepted}
        multiple
        hidden
        onChange={(event) => {
          const files = [...(event.target.files ?? [])].slice(0, room);
          event.target.value = "";
          if (files.length > 0) void upload(files);
        }}
      />
      <Button size="small" variant="quiet" disabled={room <= 0} busy={busy} onClick={() => field.current?.click()}>
        <ImagePlus size={16} aria-hidden="true" />
        {t("addReference")}
      </Button>
      {first && (
        <Button size="small" variant="quiet" aria-pressed={mask !== null} onClick={() => setPainting(true)}>
          <Brush size={16} aria-hidden="true" />
          {t(mask === null ? "paintMask" : "changeMask")}
        </Button>
      )}
      {busy && <Spinner size="small" label={t("uploading")} />}

      {fault !== null && (
        <p role="alert" className={styles.fault}>
          {t(`uploadFaults.${fault}`)}
        </p>
      )}
      {painting && first && <MaskEditor reference={first} onClose={() => setPainting(false)} />}
    </>
  );
}

/** How pictures are asked for: above the composer's buttons while a model that makes pictures is chosen. */
export function PictureComposer() {
  const { t } = useTranslation("pictures");
  const { number } = useFormat();
  const { count, size, quality, background } = usePictureWish((wish) => wish.options);
  const [more, setMore] = useState(false);
  return (
    <div className={styles.options}>
      <References />
      <div className={styles.row}>
        <Segmented
          className={styles.tight ?? ""}
          label={t("size")}
          options={pictureSizes.map((value) => ({
            value,
            label: (
              <>
                <Shape size={value} />
                <span className={styles.hidden}>{t(`sizes.${value}`)}</span>
              </>
            ),
          }))}
          value={size}
          onChange={(value) => wishOptions({ size: value })}
        />
        <Segmented
          className={styles.tight ?? ""}
          label={t("count")}
          options={Array.from({ length: pictureLimits.count }, (_, index) => ({ value: String(index + 1), label: number(index + 1) }))}
          value={String(count)}
          onChange={(value) => wishOptions({ count: Number(value) })}
        />
        <IconButton className={styles.moreButton} label={t("more")} aria-expanded={more} onClick={() => setMore(!more)}>
          <SlidersHorizontal size={18} aria-hidden="true" />
        </IconButton>
      </div>
      <div className={styles.row} data-more={more}>
        <Segmented
          className={styles.tight ?? ""}
          label={t("quality")}
          options={pictureQualities.map((value) => ({ value, label: t(`qualities.${value}`) }))}
          value={quality}
          onChange={(value) => wishOptions({ quality: value })}
        />
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={background === "transparent"}
            onChange={(event) => wishOptions({ background: event.target.checked ? "transparent" : "auto" })}
          />
          {t("transparent")}
        </label>
        <ReferenceTools />
      </div>
    </div>
  );
}
