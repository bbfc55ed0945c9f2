import { Film, Play } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { hasEnded, retryAddress, useAddressesFailed, useFileAddress } from "#client/lib/file-addresses.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
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
  const { t } = useTranslation(["clips", "pictures"]);
  const { fileId, width, height, alternative, durationMs } = clip;
  const { seconds } = useFormat();
  const address = useFileAddress(fileId);
  const askFailed = useAddressesFailed();
  const [broken, setBroken] = useState<string>();
  const failed = (address === undefined && askFailed) || (address !== undefined && address === broken);
  const retry = () => {
    setBroken(undefined);
    retryAddress(fileId);
  };
  const online = useOnline();
  const again = useRef(retry);
  again.current = () => failed && retry();
  useEffect(() => {
    if (online) again.current();
  }, [online]);
  const shape = { aspectRatio: onOpen ? "1" : `${width} / ${height}` };
  if (address === null || failed)
    return (
      <div className={classNames(styles.frame, styles.missing)} style={shape}>
        <Film size={20} aria-hidden="true" />
        <span>{t(address === null ? "clips:deleted" : "clips:unreadable")}</span>
        {failed && (
          <Button size="small" onClick={retry}>
            {t("pictures:retry")}
          </Button>
        )}
      </div>
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
      onError={() => (hasEnded(fileId) ? retryAddress(fileId) : setBroken(address))}
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
      title={t("clips:open")}
    >
      {video}
      <span className={styles.badge} aria-hidden="true">
        <Play size={12} fill="currentColor" />
        {seconds(durationMs / 1_000)}
      </span>
    </button>
  );
}
