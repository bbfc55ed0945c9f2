import { ImageOff } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useStoredFile } from "#client/lib/use-stored-file.ts";
import { classNames } from "./class-names.ts";
import { MissingFile } from "./missing-file.tsx";
import styles from "./stored-picture.module.css";

export interface ShownPicture {
  fileId: string;
  width: number;
  height: number;
  alternative: string;
}

interface StoredPictureProps {
  picture: ShownPicture;
  /** Cut to a square. */
  square?: boolean;
  /** Opens the full view. */
  onOpen?: (() => void) | undefined;
}

/** A picture of the person, in its proportions from the beginning. It says so if it was deleted or can't be read. */
export function StoredPicture({ picture, square = false, onOpen }: StoredPictureProps) {
  const { t } = useTranslation("pictures");
  const { fileId, width, height, alternative } = picture;
  const { address, failed, retry, onError } = useStoredFile(fileId);
  const [loaded, setLoaded] = useState<string>();
  const frame = styles.frame;
  const shape = { aspectRatio: square ? "1" : `${width} / ${height}` };
  if (address === null || failed)
    return (
      <MissingFile className={frame} shape={shape} icon={<ImageOff size={20} aria-hidden="true" />} onRetry={failed ? retry : undefined}>
        {t(address === null ? "deleted" : "unreadable")}
      </MissingFile>
    );
  const image = address && (
    <img
      key={address}
      className={styles.image}
      src={address}
      alt={alternative}
      {...{ width, height }}
      data-loaded={loaded === address || undefined}
      decoding="async"
      onLoad={() => setLoaded(address)}
      onError={onError}
    />
  );
  if (!onOpen)
    return (
      <div className={frame} style={shape}>
        {image}
      </div>
    );
  return (
    <button type="button" className={classNames(frame, styles.button)} style={shape} onClick={onOpen} title={t("open")}>
      {image}
    </button>
  );
}
