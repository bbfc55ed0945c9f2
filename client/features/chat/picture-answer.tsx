import { Square } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PictureActions } from "#client/components/picture-actions.tsx";
import { PictureViewer } from "#client/components/picture-viewer.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { StoredPicture } from "#client/components/stored-picture.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { PictureOptions, PicturePart } from "#contract/generations/generations.ts";
import { textOf } from "#domain/messages.ts";
import { sizeOf } from "#domain/pictures.ts";
import { threadOf } from "./chat-store.ts";
import { FailureText } from "./failure-text.tsx";
import styles from "./picture-answer.module.css";
import type { LiveAnswer, ThreadMessage } from "./thread.ts";

/** A picture that is being made: what it looks like so far, or tiles. */
function Growing({ options, preview }: { options: PictureOptions; preview: string | undefined }) {
  const { width, height } = sizeOf(options.size);
  return (
    <div className={styles.growing} style={{ aspectRatio: `${width} / ${height}` }}>
      {preview !== undefined && <img className={styles.preview} src={preview} alt="" />}
    </div>
  );
}

/** The pictures of an answer under way, each in its place. */
function Making({ live, options }: { live: LiveAnswer; options: PictureOptions }) {
  const { t } = useTranslation("pictures");
  const { number } = useFormat();
  const places = Array.from({ length: options.count }, (_, place) => place);
  const ready = live.pictures.filter((picture) => picture !== undefined).length;
  return (
    <>
      <ul className={styles.grid} data-count={options.count}>
        {places.map((place) => {
          const picture = live.pictures[place];
          return (
            <li key={place}>
              {picture ? <StoredPicture picture={picture} /> : <Growing options={options} preview={live.previews[place]} />}
            </li>
          );
        })}
      </ul>
      {live.phase !== "lost" && live.phase !== "sending" && (
        <p className={styles.note}>
          <Spinner size="small" />
          {options.count === 1
            ? t("making")
            : t("makingSeveral", { count: options.count, ready: number(ready), total: number(options.count) })}
        </p>
      )}
    </>
  );
}

/** Why some of the pictures are not there. */
function Missing({ message, options, delivered }: { message: ThreadMessage; options: PictureOptions; delivered: number }) {
  const { t } = useTranslation("pictures");
  const { number } = useFormat();
  const { receipt } = message;
  if (!receipt || receipt.status === "failed" || delivered >= options.count) return null;
  const figures = { count: options.count, delivered: number(delivered), total: number(options.count) };
  return (
    <p className={styles.note}>
      {receipt.status === "stopped" && <Square size={12} fill="currentColor" aria-hidden="true" />}
      <span>
        {t(receipt.status === "stopped" ? "stoppedAt" : "someMissing", figures)}
        {receipt.status !== "stopped" && (
          <>
            {" "}
            <FailureText receipt={receipt} />
          </>
        )}
      </span>
    </p>
  );
}

interface PictureAnswerProps {
  threadKey: string;
  live: LiveAnswer | null;
  /** Null while the answer runs. */
  message: ThreadMessage | null;
}

/** The pictures of an answer: a grid, and each of them on the whole window. */
export function PictureAnswer({ threadKey, live, message }: PictureAnswerProps) {
  const [open, setOpen] = useState<number>();
  const options = live?.picture ?? message?.receipt?.picture;
  if (!options) return null;
  if (!message) return live && <Making live={live} options={options} />;
  const pictures = message.parts.filter((part): part is PicturePart => part.kind === "picture");
  const question = threadOf(threadKey).all.find(({ id }) => id === message.parentId);
  const shown = open === undefined ? undefined : pictures[open];
  const close = () => setOpen(undefined);
  return (
    <>
      {pictures.length > 0 && (
        <ul className={styles.grid} data-count={pictures.length}>
          {pictures.map((picture, index) => (
            <li key={picture.fileId}>
              <StoredPicture picture={picture} onOpen={() => setOpen(index)} />
            </li>
          ))}
        </ul>
      )}
      <Missing message={message} options={options} delivered={pictures.length} />
      {shown && open !== undefined && (
        <PictureViewer
          pictures={pictures}
          index={open}
          onIndex={setOpen}
          onClose={close}
          actions={
            <PictureActions
              key={shown.fileId}
              picture={shown}
              prompt={question ? textOf(question) : shown.alternative}
              modelId={message.receipt?.modelId ?? null}
              onComposer={close}
              onDeleted={close}
            />
          }
        />
      )}
    </>
  );
}
