import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { useRefusal } from "#client/components/use-refusal.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { api } from "#client/lib/api.ts";
import { refreshUser } from "#client/lib/session-refresh.ts";
import type { Crop } from "#domain/avatars.ts";
import { avatarBytes, avatarLimits, centreCrop } from "#domain/avatars.ts";
import styles from "./account.module.css";
import type { Size } from "./picture-crop.tsx";
import { PictureCrop } from "./picture-crop.tsx";

interface Chosen {
  file: Blob;
  /** The blob's address, for the preview. */
  address: string;
  size: Size;
  crop: Crop;
}

/** Reads what the browser can show. Throws if it can't show the file. */
async function openPicture(file: Blob): Promise<Chosen> {
  const address = URL.createObjectURL(file);
  const image = new Image();
  image.src = address;
  try {
    await image.decode();
  } catch (error) {
    URL.revokeObjectURL(address);
    throw error;
  }
  const size = { width: image.naturalWidth, height: image.naturalHeight };
  return { file, address, size, crop: centreCrop(size.width, size.height) };
}

/** The chosen file, and the calls. */
function usePicture(onClose: () => void) {
  const [chosen, setChosen] = useState<Chosen>();
  const [busy, setBusy] = useState<"uploading" | "removing">();
  const { note, waitSeconds, refuse, clear } = useRefusal();

  const address = chosen?.address;
  useEffect(() => () => (address === undefined ? undefined : URL.revokeObjectURL(address)), [address]);

  async function choose(file: Blob | undefined): Promise<void> {
    if (!file) return;
    clear();
    setChosen(undefined);
    if (file.size > avatarBytes) return refuse(undefined, problemText("picture_too_large"));
    await openPicture(file).then(setChosen, () => refuse(undefined, problemText("picture_unsupported")));
  }

  async function act(name: "uploading" | "removing", call: () => Promise<unknown>): Promise<void> {
    if (busy || waitSeconds > 0) return;
    clear();
    setBusy(name);
    try {
      await call();
      // The change is made. If this fails, the next refresh brings it.
      await refreshUser().catch(() => undefined);
      onClose();
    } catch (error) {
      refuse(error);
      setBusy(undefined);
    }
  }

  // The server detects the type from the bytes.
  const headers = { "content-type": "application/octet-stream" };
  const upload = ({ file, crop }: Chosen) =>
    act("uploading", () => api("PUT /api/account/avatar", { file, headers, querystring: { ...crop } }));
  const remove = () => act("removing", () => api("DELETE /api/account/avatar"));
  return { chosen, setChosen, choose, busy, note, waitSeconds, upload, remove };
}

/** Gives the account a picture, or takes it away. A phone also offers its camera for the file. */
export function PictureDialog({ hasPicture, onClose }: { hasPicture: boolean; onClose: () => void }) {
  const { t } = useTranslation(["account", "auth", "errors", "refusals"]);
  const { chosen, setChosen, choose, busy, note, waitSeconds, upload, remove } = usePicture(onClose);
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog open onClose={onClose} title={t("account:picture.title")}>
      <div className={styles.form}>
        {note}
        {chosen ? (
          <PictureCrop {...chosen} onChange={(crop) => setChosen({ ...chosen, crop })} />
        ) : (
          <p className={styles.lead}>{t("account:picture.hint", { megabytes: avatarLimits.megabytes })}</p>
        )}
        <input
          ref={input}
          type="file"
          accept={avatarLimits.types.join()}
          hidden
          onChange={(event) => {
            void choose(event.target.files?.[0]);
            // The same file can be chosen again after a refusal.
            event.target.value = "";
          }}
        />
        <div className={styles.actions}>
          {chosen && (
            <Button
              variant="primary"
              busy={busy === "uploading"}
              busyLabel={t("account:picture.uploading")}
              aria-disabled={waitSeconds > 0}
              onClick={() => void upload(chosen)}
            >
              {t("account:picture.upload")}
            </Button>
          )}
          <Button variant={chosen ? "secondary" : "primary"} onClick={() => input.current?.click()}>
            {t(chosen ? "account:picture.another" : "account:picture.choose")}
          </Button>
          {hasPicture && !chosen && (
            <Button busy={busy === "removing"} busyLabel={t("account:picture.removing")} onClick={() => void remove()}>
              {t("account:picture.remove")}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
