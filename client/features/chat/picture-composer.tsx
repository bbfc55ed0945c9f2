import { Brush, ImagePlus, SlidersHorizontal, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { removeReference, usePictureWish, wishOptions } from "#client/lib/picture-wish.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { pictureLimits, pictureQualities, pictureSizes, sizeOf } from "#domain/pictures.ts";
import { ComposerChoice, ShapeChoice } from "./composer-choice.tsx";
import { FileChoice, pictureTypes } from "./file-choice.tsx";
import { discardBy } from "./kept-references.ts";
import { MaskEditor } from "./mask-editor.tsx";
import styles from "./picture-composer.module.css";
import { UploadChips } from "./upload-chips.tsx";
import { addUploads } from "./uploads.ts";

const place = { purpose: "reference", threadKey: "" } as const;

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
          <IconButton
            className={styles.remove}
            label={t("removeReference")}
            onClick={() => discardBy(() => removeReference(reference.fileId))}
          >
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
  const pending = usePictureWish((wish) => wish.pending);
  const [first] = references;
  const room = pictureLimits.references - references.length - pending;
  return (
    <>
      <FileChoice name="references" accept={pictureTypes} onFiles={(files) => void addUploads(place, files.slice(0, Math.max(room, 0)))}>
        {(open) => (
          <Button size="small" variant="quiet" disabled={room <= 0} onClick={({ currentTarget }) => open(currentTarget)}>
            <ImagePlus size={16} aria-hidden="true" />
            {t("addReference")}
          </Button>
        )}
      </FileChoice>
      {first && (
        <Button size="small" variant="quiet" aria-pressed={mask !== null} onClick={() => setPainting(true)}>
          <Brush size={16} aria-hidden="true" />
          {t(mask === null ? "paintMask" : "changeMask")}
        </Button>
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
      <UploadChips place={place} />
      <div className={styles.row}>
        <ShapeChoice
          label={t("size")}
          shapes={pictureSizes.map((value) => ({ value, name: t(`sizes.${value}`), ...sizeOf(value) }))}
          value={size}
          onChange={(value) => wishOptions({ size: value })}
        />
        <ComposerChoice
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
        <ComposerChoice
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
