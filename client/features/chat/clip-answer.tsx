import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { PictureActions } from "#client/components/picture-actions.tsx";
import { StoredClip } from "#client/components/stored-clip.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { ClipOptions, ClipPart, ProgressEvent } from "#contract/generations/media.ts";
import { aspectOf } from "#domain/clips.ts";
import { textOf } from "#domain/messages.ts";
import { threadOf } from "./chat-store.ts";
import styles from "./clip-answer.module.css";
import type { LiveAnswer, ThreadMessage } from "./thread.ts";

const secondMs = 1_000;
const minuteSeconds = 60;

/** "1:05", for as long as it grows. */
function Elapsed({ since }: { since: string }) {
  const { i18n } = useTranslation("clips");
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), secondMs);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / secondMs));
  const two = new Intl.NumberFormat(i18n.language, { minimumIntegerDigits: 2 });
  const minutes = new Intl.NumberFormat(i18n.language).format(Math.floor(seconds / minuteSeconds));
  return (
    <span className={styles.time} role="timer">
      {minutes}:{two.format(seconds % minuteSeconds)}
    </span>
  );
}

function State({ progress }: { progress: ProgressEvent | null }) {
  const { t } = useTranslation("clips");
  const { number, percent } = useFormat();
  if (!progress || progress.state === "queued") {
    const place = progress?.place;
    return <p>{typeof place === "number" ? t("place", { place: number(place) }) : t("queued")}</p>;
  }
  const done = progress.state === "downloading" ? 100 : progress.percent;
  return (
    <>
      <p>{t(progress.state === "downloading" ? "downloading" : "working")}</p>
      <p className={styles.soft}>
        {progress.percent !== null && `${percent(progress.percent)} · `}
        {progress.startedAt !== null && <Elapsed since={progress.startedAt} />}
      </p>
      <progress className={styles.bar} aria-label={t("progress")} max={100} {...(done !== null && { value: done })} />
      {progress.state === "working" && <p className={styles.soft}>{t("cantStop")}</p>}
    </>
  );
}

/** A clip that waits or is being made. */
function Making({ live, options }: { live: LiveAnswer; options: ClipOptions }) {
  const { t } = useTranslation("clips");
  const { width, height } = aspectOf(options.shape);
  return (
    <div className={styles.making} style={{ aspectRatio: `${width} / ${height}` }}>
      <div className={styles.state} aria-live="polite">
        <State progress={live.progress} />
        <p className={styles.soft}>{t("away")}</p>
      </div>
    </div>
  );
}

interface ClipAnswerProps {
  threadKey: string;
  live: LiveAnswer | null;
  /** Null while the answer runs. */
  message: ThreadMessage | null;
}

/** The clip of an answer: how far it is, and then its player. */
export function ClipAnswer({ threadKey, live, message }: ClipAnswerProps) {
  const [removed, setRemoved] = useState(false);
  const options = live?.clip ?? message?.receipt?.clip;
  if (!options) return null;
  if (!message) return live && live.phase !== "sending" && <Making live={live} options={options} />;
  const clip = message.parts.find((part): part is ClipPart => part.kind === "clip");
  if (!clip) return null;
  const question = threadOf(threadKey).all.find(({ id }) => id === message.parentId);
  return (
    <div className={styles.clip}>
      <StoredClip clip={clip} />
      {!removed && (
        <div className={styles.actions}>
          <PictureActions
            picture={clip}
            isClip
            prompt={question ? textOf(question) : clip.alternative}
            modelId={message.receipt?.modelId ?? null}
            onComposer={() => {}}
            onDeleted={() => setRemoved(true)}
          />
        </div>
      )}
    </div>
  );
}
