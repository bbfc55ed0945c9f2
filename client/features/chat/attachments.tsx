import { Paperclip } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { knownModel } from "#client/lib/known-models.ts";
import { sessionStore } from "#client/lib/session-store.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { withoutFile } from "#client/offline/draft-files.ts";
import type { Draft } from "#client/offline/drafts.ts";
import { onFileEvent } from "#client/offline/file-events.ts";
import type { FileInfo } from "#contract/files.ts";
import type { AttachedFile } from "#contract/generations/generations.ts";
import type { Reading, ReadingFault } from "#domain/attachments.ts";
import { attachmentLimits, isPicture, readAttachments } from "#domain/attachments.ts";
import { countTokens } from "#domain/tokens.ts";
import styles from "./attachments.module.css";
import { Chip, StoredThumbnail, useReadingText } from "./file-chips.tsx";
import { FileChoice } from "./file-choice.tsx";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { dropPreview } from "./previews.ts";
import { putAway } from "./put-away.ts";
import { withFile } from "./settle-file.ts";
import { takeShared } from "./shared-files.ts";
import { newThreadKey } from "./thread.ts";
import { NoRoomFor, RemoveButton, UploadChip, useUploadsAt } from "./upload-chips.tsx";
import type { Place } from "./uploads.ts";
import { addUploads } from "./uploads.ts";
import { useArrivals } from "./use-arrivals.ts";

/** What the composer has to know of the files. */
export interface FilesState {
  /** Something is still being uploaded, or the model can't read it. */
  blocked: boolean;
  attached: readonly AttachedFile[];
}

/** With these types iOS turns its own photos into JPEGs. */
const accepted = "image/png,image/jpeg,image/webp,image/gif,application/pdf,text/*,.md,.csv,.tsv,.json,.yaml,.yml,.log,.tex";

type Receive = (files: readonly File[]) => void;
/** By thread: the list that takes what the button chooses. */
const receivers = new Map<string, Receive>();

function readingsOf(modelId: string, text: string, files: readonly FileInfo[]): readonly (Reading | ReadingFault)[] {
  const model = knownModel(modelId);
  return model ? readAttachments(model, countTokens(text.trim()), files) : [];
}

const isRead = (reading: Reading | ReadingFault | undefined): reading is Reading => typeof reading === "object";

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
    .filter((each) => readingsOf(each.id, text, files).every(isRead) && knownModel(each.id)?.inputTokenLimit)
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

/** Calls the listener with the change that each uploaded or deleted file makes to this conversation's draft. Returns a function to stop. */
export function onDraftFile(threadKey: string, listener: (by: (draft: Draft) => Draft) => void): () => void {
  return onFileEvent((event) => {
    const owner = sessionStore.getState().user?.id;
    if (event.type === "deleted" && event.owner === owner) listener((draft) => withoutFile(draft, event.id));
    if (event.type !== "stored" || event.file.owner !== owner) return;
    const { purpose, threadKey: of } = event.file;
    if ((purpose === "question" || purpose === "recording") && of === threadKey) listener((draft) => withFile(draft, event.info));
  });
}

/** Takes files for this thread, as many as there is room for. */
function useReceiver({ threadKey, files }: Pick<AttachmentsProps, "threadKey" | "files">, place: Place, pending: number) {
  const [tooMany, setTooMany] = useState(false);
  const receive: Receive = (chosen) => {
    const room = attachmentLimits.files - files.length - pending;
    setTooMany(chosen.length > room);
    void addUploads(place, chosen.slice(0, Math.max(room, 0)));
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
  const place = { purpose: "question", threadKey } as const;
  const uploads = useUploadsAt(place);
  const { receive, tooMany } = useReceiver(props, place, uploads.length);
  const isOver = useArrivals(receive);
  const readings = model ? readingsOf(model.id, text, files) : [];
  useReport(props, readings, uploads.length > 0);
  const remove = ({ id }: FileInfo) => {
    dropPreview(id);
    onFiles(files.filter((file) => file.id !== id));
    void putAway([id]);
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
          <UploadChip key={item.id} item={item} />
        ))}
      </ul>
      <NoRoomFor uploads={uploads} />
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
  return (
    <FileChoice name="attachments" accept={accepted} onFiles={(files) => receivers.get(threadKey)?.(files)}>
      {(open) => (
        <IconButton
          label={t("attach")}
          aria-disabled={count >= attachmentLimits.files}
          onClick={({ currentTarget }) => open(currentTarget)}
        >
          <Paperclip size={20} aria-hidden="true" />
        </IconButton>
      )}
    </FileChoice>
  );
}
