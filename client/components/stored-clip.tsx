import { Film, Play } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { useStoredFile } from "#client/lib/use-stored-file.ts";
import { classNames } from "./class-names.ts";
import { MissingFile } from "./missing-file.tsx";
import styles from "./stored-clip.module.css";
import type { ShownPicture } from "./stored-picture.tsx";

export interface ShownClip extends ShownPicture {
  durationMs: number;
}

interface StoredClipProps {
  clip: ShownClip;
  /** A square tile that opens the player, instead of the player. */
  onOpen?: (() => void) | undefined;
}

/** Browsers draw the first frame of a clip only if they are sent to it. */
const firstFrame = "#t=0.001";

/** A clip of the person, in its proportions from the beginning, with its first frame. It says so if it was deleted or can't be read. */
export function StoredClip({ clip, onOpen }: StoredClipProps) {
  const { t } = useTranslation("clips");
  const { fileId, width, height, alternative, durationMs } = clip;
  const { seconds } = useFormat();
  const { address, failed, retry, onError } = useStoredFile(fileId);
  const shape = { aspectRatio: onOpen ? "1" : `${width} / ${height}` };
  if (address === null || failed)
    return (
      <MissingFile className={styles.frame} shape={shape} icon={<Film size={20} aria-hidden="true" />} onRetry={failed ? retry : undefined}>
        {t(address === null ? "deleted" : "unreadable")}
      </MissingFile>
    );
  const video = address && (
    <video
      key={address}
      className={styles.video}
      src={address + firstFrame}
      controls={!onOpen}
      playsInline
      preload="metadata"
      aria-label={alternative}
      tabIndex={onOpen ? -1 : 0}
      {...{ width, height }}
      onError={onError}
    >
      <track kind="captions" />
    </video>
  );
  if (!onOpen)
    return (
      <div className={styles.frame} style={shape}>
        {video}
      </div>
    );
  return (
    <button
      type="button"
      className={classNames(styles.frame, styles.button)}
      style={shape}
      onClick={onOpen}
      aria-label={`${alternative}, ${seconds(durationMs / 1_000)}`}
      title={t("open")}
    >
      {video}
      <span className={styles.badge} aria-hidden="true">
        <Play size={12} fill="currentColor" />
        {seconds(durationMs / 1_000)}
      </span>
    </button>
  );
}
