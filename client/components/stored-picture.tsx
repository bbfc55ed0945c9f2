import { ImageOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { hasEnded, retryAddress, useAddressesFailed, useFileAddress } from "#client/lib/file-addresses.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
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
  const address = useFileAddress(fileId);
  const askFailed = useAddressesFailed();
  const [broken, setBroken] = useState<string>();
  const [loaded, setLoaded] = useState<string>();
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
  const frame = styles.frame;
  const shape = { aspectRatio: square ? "1" : `${width} / ${height}` };
  if (address === null || failed)
    return (
      <div className={classNames(frame, styles.missing)} style={shape}>
        <ImageOff size={20} aria-hidden="true" />
        <span>{t(address === null ? "deleted" : "unreadable")}</span>
        {failed && (
          <Button size="small" onClick={retry}>
            {t("retry")}
          </Button>
        )}
      </div>
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
      onError={() => (hasEnded(fileId) ? retryAddress(fileId) : setBroken(address))}
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
