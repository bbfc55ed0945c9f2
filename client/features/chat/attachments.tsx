import { Paperclip, RotateCcw, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useOnline } from "#client/lib/use-online.ts";
import type { FileInfo } from "#contract/files.ts";
import type { AttachedFile } from "#contract/generations.ts";
import type { Reading, ReadingFault } from "#domain/attachments.ts";
import { attachmentLimits, isPicture, readAttachments } from "#domain/attachments.ts";
import { findModel } from "#domain/models.ts";
import styles from "./attachments.module.css";
import { Chip, StoredThumbnail, Thumbnail, useReadingText } from "./file-chips.tsx";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { takeShared } from "./shared-files.ts";
import { newThreadKey } from "./thread.ts";
import type { Upload } from "./uploads.ts";
import { addUploads, dropPreview, previewOf, removeUpload, retryUpload, useUploads } from "./uploads.ts";
import { useArrivals } from "./use-arrivals.ts";

/** What the composer has to know of the files. */
export interface FilesState {
  /** Something is still being uploaded, or the model can't read it. */
  blocked: boolean;
  attached: readonly AttachedFile[];
}

/** A phone offers its camera too. Of these types iOS makes a JPEG of its own photos. */
const accepted = "image/png,image/jpeg,image/webp,image/gif,application/pdf,text/*,.md,.csv,.tsv,.json,.yaml,.yml,.log,.tex";
const noUploads: readonly Upload[] = [];

type Receive = (files: readonly File[]) => void;
/** By thread: the list that takes what the button chooses. */
const receivers = new Map<string, Receive>();

const bytesOf = (text: string) => new TextEncoder().encode(text.trim()).length;

function readingsOf(modelId: string, text: string, files: readonly FileInfo[]): readonly (Reading | ReadingFault)[] {
  const model = findModel(modelId);
  return model ? readAttachments(model, bytesOf(text), files) : [];
}

const isRead = (reading: Reading | ReadingFault | undefined): reading is Reading => typeof reading === "object";

function RemoveButton({ name, onClick }: { name: string; onClick: () => void }) {
  const { t } = useTranslation("files");
  return (
    <IconButton className={styles.remove} label={t("remove", { name })} onClick={onClick}>
      <X size={16} aria-hidden="true" />
    </IconButton>
  );
}

function UploadChip({ threadKey, item }: { threadKey: string; item: Upload }) {
  const { t } = useTranslation(["files", "errors", "refusals", "uploads"]);
  const { percent } = useFormat();
  const online = useOnline();
  const { key, name, state, progress, code } = item;
  const waiting = online ? t("files:waiting") : t("files:offline");
  const uploading = t("files:uploading", { percent: percent(Math.floor(progress * 100)) });
  const note = state === "failed" ? problemText(code ?? "unexpected") : state === "uploading" ? uploading : waiting;
  return (
    <Chip thumbnail={<Thumbnail address={previewOf(key)} />} {...{ name, note }} fault={state === "failed"}>
      {state === "uploading" && <progress className={styles.progress} value={progress} aria-label={note} />}
      {state === "failed" && (code === "network" || code === "rate_limited" || code === "unexpected") && (
        <IconButton className={styles.remove} label={t("files:retry", { name })} onClick={() => retryUpload(threadKey, key)}>
          <RotateCcw size={16} aria-hidden="true" />
        </IconButton>
      )}
      <RemoveButton name={name} onClick={() => removeUpload(threadKey, key)} />
    </Chip>
  );
}

interface FaultProps extends Pick<AttachmentsProps, "model" | "files" | "text" | "available" | "onUse"> {
  readings: readonly (Reading | ReadingFault)[];
}

/** Says which file the model can't read, and offers one that can read all of them. */
function Fault({ model, files, text, available, onUse, readings }: FaultProps) {
  const { t } = useTranslation("files");
  const { credits } = useFormat();
  const { models } = useModels();
  const index = readings.findIndex((reading) => !isRead(reading));
  const name = files[index]?.name;
  if (!model || name === undefined) return null;
  const other = models
    .filter((each) => each.id !== model.id && mayAnswer(each) && each.credits <= available)
    .filter((each) => readingsOf(each.id, text, files).every(isRead) && findModel(each.id)?.inputTokenLimit)
    .toSorted((one, two) => Math.abs(one.credits - model.credits) - Math.abs(two.credits - model.credits))[0];
  return (
    <p className={styles.line} role="alert">
      <span className={styles.fault}>{t(readings[index] === "too_large" ? "tooLarge" : "unreadable", { model: model.name, name })}</span>
      {other && (
        <Button size="small" onClick={() => onUse(other.id)}>
          {t("use", { model: other.name, credits: credits(other.credits) })}
        </Button>
      )}
    </p>
  );
}

interface AttachmentsProps {
  threadKey: string;
  files: readonly FileInfo[];
  text: string;
  model: OfferedModel | undefined;
  available: number;
  onFiles: (files: readonly FileInfo[]) => void;
  onUse: (modelId: string) => void;
  onState: (state: FilesState) => void;
}

/** Tells the composer, when it changes, what will be sent and whether it can be. */
function useReport({ files, onState }: Pick<AttachmentsProps, "files" | "onState">, readings: FaultProps["readings"], busy: boolean): void {
  const attached = files.flatMap(({ id: fileId, name, contentType, bytes, width, height, pages }, index): AttachedFile[] => {
    const reading = readings[index];
    if (!isRead(reading)) return [];
    return [
      { fileId, name, contentType, bytes, width, height, pages, reading: { as: reading.as, pages: reading.pages, cut: reading.cut } },
    ];
  });
  const state = { blocked: busy || attached.length < files.length, attached };
  const told = JSON.stringify(state);
  const latest = useRef(onState);
  latest.current = onState;
  useEffect(() => latest.current(JSON.parse(told) as FilesState), [told]);
}

/** Takes files for this thread, as many as there is room for. */
function useReceiver({ threadKey, files, onFiles }: Pick<AttachmentsProps, "threadKey" | "files" | "onFiles">, pending: number) {
  const [tooMany, setTooMany] = useState(false);
  const latest = useRef({ files, onFiles });
  latest.current = { files, onFiles };
  const receive: Receive = (chosen) => {
    const room = attachmentLimits.files - files.length - pending;
    setTooMany(chosen.length > room);
    addUploads(threadKey, chosen.slice(0, Math.max(room, 0)), (info) => latest.current.onFiles([...latest.current.files, info]));
  };
  const current = useRef(receive);
  current.current = receive;
  useEffect(() => {
    const own: Receive = (chosen) => current.current(chosen);
    receivers.set(threadKey, own);
    if (threadKey === newThreadKey) void takeShared().then((shared) => shared.length > 0 && own(shared));
    return () => void (receivers.get(threadKey) === own && receivers.delete(threadKey));
  }, [threadKey]);
  return { receive, tooMany };
}

/** The files of the next question: what the model reads of each, and that they cost nothing. */
export function Attachments(props: AttachmentsProps) {
  const { threadKey, files, text, model, onFiles } = props;
  const { t } = useTranslation("files");
  const { number } = useFormat();
  const readingText = useReadingText();
  const uploads = useUploads((state) => state.uploads[threadKey] ?? noUploads);
  const { receive, tooMany } = useReceiver(props, uploads.length);
  const isOver = useArrivals(receive);
  const readings = model ? readingsOf(model.id, text, files) : [];
  useReport(props, readings, uploads.length > 0);
  const remove = ({ id }: FileInfo) => {
    dropPreview(id);
    onFiles(files.filter((file) => file.id !== id));
  };
  const over = isOver && (
    <div className={styles.over} aria-hidden="true">
      {t("drop")}
    </div>
  );
  if (files.length + uploads.length === 0) return over || null;
  return (
    <div className={styles.files}>
      {over}
      <ul className={styles.chips} aria-label={t("label")}>
        {files.map((file, index) => {
          const reading = readings[index];
          const note = isRead(reading) ? readingText(reading, file.pages) : t("notRead");
          return (
            <Chip
              key={file.id}
              thumbnail={<StoredThumbnail id={file.id} picture={isPicture(file)} />}
              name={file.name}
              note={note}
              fault={reading !== undefined && !isRead(reading)}
            >
              <RemoveButton name={file.name} onClick={() => remove(file)} />
            </Chip>
          );
        })}
        {uploads.map((item) => (
          <UploadChip key={item.key} {...{ threadKey, item }} />
        ))}
      </ul>
      {tooMany && (
        <p className={styles.line}>{t("tooMany", { count: attachmentLimits.files, formatted: number(attachmentLimits.files) })}</p>
      )}
      {readings.every(isRead) ? <p className={styles.line}>{t("free")}</p> : <Fault {...props} readings={readings} />}
    </div>
  );
}

/** Opens the choice of files. */
export function AttachButton({ threadKey, count }: { threadKey: string; count: number }) {
  const { t } = useTranslation("files");
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        name="attachments"
        accept={accepted}
        multiple
        hidden
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])];
          // The same file can be chosen again after it was removed.
          event.target.value = "";
          if (chosen.length > 0) receivers.get(threadKey)?.(chosen);
        }}
      />
      <IconButton label={t("attach")} aria-disabled={count >= attachmentLimits.files} onClick={() => field.current?.click()}>
        <Paperclip size={20} aria-hidden="true" />
      </IconButton>
    </>
  );
}
