import { Download, Pencil, TextCursorInput, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem, api, apiResponse } from "#client/lib/api.ts";
import { forgetFile } from "#client/lib/file-addresses.ts";
import { askLike, editPicture } from "#client/lib/picture-wish.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import styles from "./picture-actions.module.css";
import type { ShownPicture } from "./stored-picture.tsx";

interface PictureActionsProps {
  picture: ShownPicture;
  /** The whole prompt. */
  prompt: string;
  modelId: string | null;
  /** Called after the picture or its prompt was put into the composer, to show the composer. */
  onComposer: () => void;
  onDeleted: () => void;
  /** It is a clip. */
  isClip?: boolean;
  children?: ReactNode;
}

const nameLength = 60;

/** A file name that every system accepts. */
function fileNameOf(prompt: string, isClip: boolean): string {
  const words = [...prompt.replace(/[^\p{L}\p{N}]+/gu, " ").trim()].slice(0, nameLength).join("").trim();
  const [kind, ending] = isClip ? ["clip", "mp4"] : ["picture", "png"];
  return `${words === "" ? kind : words}.${ending}`;
}

type Act = "download" | "delete";

/** Runs a download or a deletion, and keeps which one is running and whether it failed. */
function useAttempt() {
  const [busy, setBusy] = useState<Act>();
  const [failed, setFailed] = useState(false);
  const attempt = async (act: Act, work: () => Promise<void>) => {
    setBusy(act);
    setFailed(false);
    await work().catch(() => setFailed(true));
    setBusy(undefined);
  };
  return { busy, failed, attempt };
}

function Failed() {
  const { t } = useTranslation("pictures");
  return (
    <p role="alert" className={styles.failed}>
      {t("failed")}
    </p>
  );
}

/** Asks first, because a picture that is deleted does not come back. */
function DeleteButton({ picture, isClip, onDeleted }: Pick<PictureActionsProps, "picture" | "isClip" | "onDeleted">) {
  const { t } = useTranslation(["pictures", "clips", "common"]);
  const { busy, failed, attempt } = useAttempt();
  const [asking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const remove = () =>
    attempt("delete", async () => {
      await api("DELETE /api/files/:id", { params: { id: picture.fileId } }).catch((error: unknown) => {
        // It is gone already.
        if (!(error instanceof ApiProblem && error.status === 404)) throw error;
      });
      close();
      forgetFile(picture.fileId);
      onDeleted();
    });
  const actions = (
    <>
      <Button onClick={close}>{t("common:cancel")}</Button>
      <Button variant="danger" busy={busy === "delete"} onClick={() => void remove()}>
        {t("pictures:delete")}
      </Button>
    </>
  );
  return (
    <>
      <Button size="small" variant="quiet" onClick={() => setAsking(true)}>
        <Trash2 size={16} aria-hidden="true" />
        {t("pictures:delete")}
      </Button>
      <Dialog open={asking} onClose={close} title={t(isClip ? "clips:deleteTitle" : "pictures:deleteTitle")} actions={actions}>
        <p>{t(isClip ? "clips:deleteText" : "pictures:deleteText")}</p>
        {failed && <Failed />}
      </Dialog>
    </>
  );
}

/** What a person does with a picture or a clip of theirs. */
export function PictureActions({ picture, prompt, modelId, onComposer, onDeleted, isClip = false, children }: PictureActionsProps) {
  const { t } = useTranslation("pictures");
  const { busy, failed, attempt } = useAttempt();
  const params = { id: picture.fileId };
  const download = () =>
    attempt("download", async () =>
      saveFile(await (await apiResponse("GET /api/files/:id", { params })).blob(), fileNameOf(prompt, isClip)),
    );
  const act = (give: () => void) => () => {
    give();
    onComposer();
  };
  return (
    <>
      <Button size="small" busy={busy === "download"} onClick={() => void download()}>
        <Download size={16} aria-hidden="true" />
        {t("download")}
      </Button>
      {!isClip && (
        <Button size="small" onClick={act(() => editPicture(picture, modelId))}>
          <Pencil size={16} aria-hidden="true" />
          {t("edit")}
        </Button>
      )}
      <Button size="small" onClick={act(() => askLike(prompt, modelId))}>
        <TextCursorInput size={16} aria-hidden="true" />
        {t("usePrompt")}
      </Button>
      {children}
      <DeleteButton picture={picture} isClip={isClip} onDeleted={onDeleted} />
      {failed && <Failed />}
    </>
  );
}
