import { ImagePlus, X } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { beginClipWith, useClipWish, wishClip } from "#client/lib/clip-wish.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { ClipShape } from "#domain/clips.ts";
import { aspectOf, clipSeconds, clipShapes } from "#domain/clips.ts";
import { ComposerChoice, ShapeChoice } from "./composer-choice.tsx";
import { FileChoice, pictureTypes } from "./file-choice.tsx";
import { discardBy } from "./kept-references.ts";
import styles from "./picture-composer.module.css";
import { UploadChips, useUploadsAt } from "./upload-chips.tsx";
import { addUploads, removeUpload } from "./uploads.ts";

/** The names of shapes are those of pictures. */
const shapeNames = {
  "16:9": "pictures:sizes.1536x864",
  "9:16": "pictures:sizes.864x1536",
  "1:1": "pictures:sizes.1024x1024",
  "4:3": "pictures:sizes.1536x1024",
  "3:4": "pictures:sizes.1024x1536",
} as const satisfies Record<ClipShape, string>;

const place = { purpose: "first_picture", threadKey: "" } as const;

/** The picture with which the clip begins, or the way to choose one. */
function FirstPicture() {
  const { t } = useTranslation(["clips", "pictures"]);
  const reference = useClipWish((wish) => wish.reference);
  const uploads = useUploadsAt(place);
  const choose = (files: readonly File[]) => {
    for (const item of uploads) void removeUpload(item);
    void addUploads(place, files.slice(0, 1));
  };
  if (reference)
    return (
      <>
        <div className={styles.reference}>
          <StoredPicture picture={reference} />
          <IconButton className={styles.remove} label={t("pictures:removeReference")} onClick={() => discardBy(() => beginClipWith(null))}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </div>
        <p className={styles.check}>{t("clips:pictureShape")}</p>
      </>
    );
  return (
    <FileChoice name="first-picture" accept={pictureTypes} multiple={false} onFiles={choose}>
      {(open) => (
        <Button size="small" variant="quiet" onClick={({ currentTarget }) => open(currentTarget)}>
          <ImagePlus size={16} aria-hidden="true" />
          {t("pictures:addReference")}
        </Button>
      )}
    </FileChoice>
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
      <UploadChips place={place} />
      <div className={styles.row}>
        {!hasPicture && (
          <ShapeChoice
            label={t("pictures:size")}
            shapes={clipShapes.map((value) => ({ value, name: t(shapeNames[value]), ...aspectOf(value) }))}
            value={shape}
            onChange={(value) => wishClip({ shape: value })}
          />
        )}
        <ComposerChoice
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
