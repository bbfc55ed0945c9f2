import { Check, FileAudio, Mic, Pause, Play, Trash2, X } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { SoundPlayer } from "#client/components/sound-player.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import { playTime } from "#client/lib/play-time.ts";
import type { Recorder } from "#client/lib/recorder.ts";
import { recordingName, useRecorder } from "#client/lib/recorder.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { FileInfo } from "#contract/files.ts";
import { recordingBytes, recordingLimits } from "#domain/transcripts.ts";
import styles from "./recording-composer.module.css";

const accepted = "audio/*,.mp3,.wav,.m4a,.aac,.ogg,.oga,.opus,.webm";

/** Uploads one recording; another one, or giving it up, ends the one before. */
export function useRecordingUpload(onStored: (info: FileInfo) => void) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const running = useRef<AbortController | undefined>(undefined);
  async function upload(file: Blob, name: string): Promise<void> {
    running.current?.abort();
    if (file.size > recordingBytes) return setFault("file_too_large");
    const controller = new AbortController();
    running.current = controller;
    setBusy(true);
    setFault(null);
    try {
      const headers = { "content-type": "application/octet-stream" };
      onStored(await api("POST /api/recordings", { querystring: { name }, file, headers, signal: controller.signal }));
    } catch (error) {
      if (isAbort(error)) return;
      setFault(error instanceof ApiProblem ? error.code : "network");
    } finally {
      if (running.current === controller) setBusy(false);
    }
  }
  const cancel = () => {
    running.current?.abort();
    setBusy(false);
  };
  return { busy, fault, upload, cancel, clear: () => setFault(null) };
}

/** How loud it is, as a bar that moves. */
function Level({ level }: { level: number }) {
  const { t } = useTranslation("sounds");
  return <meter className={styles.level} min={0} max={1} value={level} aria-label={t("level")} />;
}

/** While it records: time, level, price so far, and what can be done. */
export function RecordingBar({ recorder, children }: { recorder: Recorder; children?: React.ReactNode }) {
  const { t } = useTranslation(["sounds", "common"]);
  const { phase, milliseconds, level } = recorder;
  const paused = phase === "paused";
  return (
    <div className={styles.bar}>
      <span className={styles.dot} data-paused={paused || undefined} aria-hidden="true" />
      <span className={styles.time} role="timer">
        {playTime(milliseconds / 1_000)}
      </span>
      <Level level={paused ? 0 : level} />
      {children}
      <IconButton label={t(paused ? "sounds:resume" : "sounds:pauseRecording")} onClick={paused ? recorder.resume : recorder.pause}>
        {paused ? <Play size={20} aria-hidden="true" /> : <Pause size={20} aria-hidden="true" />}
      </IconButton>
      <IconButton label={t("sounds:discard")} onClick={recorder.cancel}>
        <X size={20} aria-hidden="true" />
      </IconButton>
      <Button size="small" variant="primary" onClick={recorder.finish}>
        <Check size={16} aria-hidden="true" />
        {t("sounds:finish")}
      </Button>
    </div>
  );
}

/** Why nothing is recorded, or was not uploaded. */
export function RecordingFault({ recorder, fault }: { recorder: Recorder; fault: string | null }) {
  const { t } = useTranslation(["sounds", "errors", "refusals", "uploads"]);
  if (recorder.fault)
    return (
      <p className={styles.fault} role="alert">
        {t(`sounds:microphone.${recorder.fault}`)}
      </p>
    );
  if (fault === null) return null;
  return (
    <p className={styles.fault} role="alert">
      {fault === "file_too_large" ? t("sounds:tooLarge", { megabytes: recordingLimits.megabytes }) : problemText(fault)}
    </p>
  );
}

interface RecordingComposerProps {
  recording: FileInfo | undefined;
  /** Credits for a started minute. */
  credits: number;
  onRecording: (recording: FileInfo | null) => void;
}

/** What will be sent. */
function Chosen({ recording, onRemove }: { recording: FileInfo; onRemove: () => void }) {
  const { t } = useTranslation("sounds");
  const { id, name, durationMs } = recording;
  return (
    <div className={styles.field}>
      <p className={styles.name}>
        <FileAudio size={18} aria-hidden="true" />
        <span>{name}</span>
        <IconButton label={t("remove", { name })} onClick={onRemove}>
          <Trash2 size={18} aria-hidden="true" />
        </IconButton>
      </p>
      <SoundPlayer fileId={id} durationMs={durationMs ?? 0} label={name} name={name} />
    </div>
  );
}

/** Opens the choice of a file. */
function ChooseButton({ onFile }: { onFile: (file: File) => void }) {
  const { t } = useTranslation("sounds");
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        name="recording"
        accept={accepted}
        hidden
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          // The same file can be chosen again after it was removed.
          event.target.value = "";
          if (file) onFile(file);
        }}
      />
      <Button onClick={() => field.current?.click()}>
        <FileAudio size={18} aria-hidden="true" />
        {t("choose")}
      </Button>
    </>
  );
}

/** In place of the field for prompts: a recording is made or chosen, and can be heard before it is sent. */
export function RecordingComposer({ recording, credits: each, onRecording }: RecordingComposerProps) {
  const { t } = useTranslation("sounds");
  const { credits, dateTime } = useFormat();
  const { busy, fault, upload, cancel, clear } = useRecordingUpload(onRecording);
  const recorder = useRecorder(
    (recorded) => void upload(recorded, recordingName(recorded, t("recordingOf", { date: dateTime(new Date().toISOString()) }))),
  );
  if (recording) return <Chosen recording={recording} onRemove={() => onRecording(null)} />;
  if (recorder.phase === "recording" || recorder.phase === "paused")
    return (
      <div className={styles.field}>
        <RecordingBar recorder={recorder} />
      </div>
    );
  return (
    <div className={styles.field}>
      <div className={styles.choices}>
        {busy ? (
          <>
            <Spinner size="small" label={t("uploading")} />
            <span>{t("uploading")}</span>
            <Button size="small" onClick={cancel}>
              {t("discard")}
            </Button>
          </>
        ) : (
          <>
            <Button
              variant="primary"
              busy={recorder.phase === "asking"}
              onClick={() => {
                clear();
                recorder.start();
              }}
            >
              <Mic size={18} aria-hidden="true" />
              {t("record")}
            </Button>
            <ChooseButton onFile={(file) => void upload(file, file.name)} />
          </>
        )}
      </div>
      <RecordingFault recorder={recorder} fault={fault} />
      <p className={styles.note}>
        {t("perMinute", { credits: credits(each) })}{" "}
        {t("limits", { megabytes: recordingLimits.megabytes, minutes: recordingLimits.seconds / 60 })}
      </p>
    </div>
  );
}
