import { Check, FileAudio, Mic, Pause, Play, Trash2, X } from "lucide-react";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { SoundPlayer } from "#client/components/sound-player.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { playTime } from "#client/lib/play-time.ts";
import type { Recorder } from "#client/lib/recorder.ts";
import { recordingName, useRecorder } from "#client/lib/recorder.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import type { FileInfo } from "#contract/files.ts";
import { hears } from "#domain/attachments.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { recordingLimits, recordingSecondsOf } from "#domain/transcripts.ts";
import { mayAnswer } from "./model-choice.ts";
import { useModels } from "./models-store.ts";
import { putAway } from "./put-away.ts";
import styles from "./recording-composer.module.css";
import { RoomLink } from "./room-link.tsx";
import { UploadChips, useUploadsAt } from "./upload-chips.tsx";
import { addUploads, removeUpload } from "./uploads.ts";

const accepted = "audio/*,.mp3,.wav,.m4a,.aac,.ogg,.oga,.opus,.webm";

/** From this time before the model's limit on, the bar says that the recording will end. */
const warningSeconds = 60;

/** How loud it is, as a bar that moves. */
function Level({ level }: { level: number }) {
  const { t } = useTranslation("sounds");
  return <meter className={styles.level} min={0} max={1} value={level} aria-label={t("level")} />;
}

/** While it records: time, level, price so far, and what can be done. */
export function RecordingBar({ recorder, children }: { recorder: Recorder; children?: React.ReactNode }) {
  const { t } = useTranslation(["sounds", "common"]);
  const { phase, milliseconds, leftSeconds, level } = recorder;
  const paused = phase === "paused";
  // Screen readers hear this once, because nobody can listen to a timer that speaks every second.
  const isEnding = leftSeconds <= warningSeconds;
  return (
    <div className={styles.bar}>
      <span className={styles.dot} data-paused={paused || undefined} aria-hidden="true" />
      <span className={styles.time} role="timer">
        {playTime(milliseconds / 1_000)}
      </span>
      <Level level={paused ? 0 : level} />
      {children}
      <span className={styles.ending} role="status">
        {isEnding && t("sounds:ending", { time: playTime(warningSeconds) })}
      </span>
      <div className={styles.acts}>
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
      {fault === "file_too_large" ? t("sounds:tooLarge", { megabytes: recordingLimits.megabytes }) : problemText(fault)}{" "}
      <RoomLink code={fault} />
    </p>
  );
}

interface RecordingComposerProps {
  threadKey: string;
  modelId: string;
  recording: FileInfo | undefined;
  /** Credits for a started minute. */
  credits: number;
  onRecording: (recording: FileInfo | null) => void;
  /** Chooses another model for the transcript. */
  onUse: (modelId: string) => void;
}

/** A model that takes a longer recording than this one, at its price. */
function LongerModel({ than, durationMs, onUse }: { than: string; durationMs: number; onUse: (modelId: string) => void }) {
  const { t } = useTranslation("files");
  const { credits } = useFormat();
  const longer = useModels(({ models }) =>
    models.find(
      (model) =>
        model.id !== than && hears(model) && mayAnswer(model) && durationMs <= recordingSecondsOf(knownModel(model.id) ?? model) * 1_000,
    ),
  );
  if (!longer) return null;
  return (
    <Button size="small" onClick={() => onUse(longer.id)}>
      {t("use", { model: longer.name, credits: credits(quoteCredits(longer, { seconds: durationMs / 1_000 })) })}
    </Button>
  );
}

interface ChosenProps extends Pick<RecordingComposerProps, "modelId" | "onUse"> {
  recording: FileInfo;
  seconds: number;
  onRemove: () => void;
}

/** What will be sent. */
function Chosen({ modelId, recording, seconds, onRemove, onUse }: ChosenProps) {
  const { t } = useTranslation("sounds");
  const sentences = useSentences();
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
      {(durationMs ?? 0) > seconds * 1_000 && (
        <div className={styles.choices}>
          <p className={styles.fault} role="alert">
            {sentences(problemText("recording_too_long"), t("limits", { megabytes: recordingLimits.megabytes, minutes: seconds / 60 }))}
          </p>
          <LongerModel than={modelId} durationMs={durationMs ?? 0} onUse={onUse} />
        </div>
      )}
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
export function RecordingComposer({ threadKey, modelId, recording, credits: each, onRecording, onUse }: RecordingComposerProps) {
  const { t } = useTranslation("sounds");
  const { credits, dateTime } = useFormat();
  const sentences = useSentences();
  const place = { purpose: "recording", threadKey } as const;
  const uploads = useUploadsAt(place);
  // There is one recording at a time, so a new one replaces the others.
  const clear = () => {
    for (const item of uploads) void removeUpload(item);
  };
  const remove = ({ id }: FileInfo) => {
    onRecording(null);
    void putAway([id]);
  };
  const upload = (file: File) => {
    clear();
    void addUploads(place, [file]);
  };
  const seconds = recordingSecondsOf(knownModel(modelId) ?? { id: modelId });
  const recorder = useRecorder(seconds, (recorded) => {
    const name = recordingName(recorded, t("recordingOf", { date: dateTime(new Date().toISOString()) }));
    upload(new File([recorded], name, { type: recorded.type }));
  });
  if (recording) return <Chosen {...{ modelId, recording, seconds, onUse }} onRemove={() => remove(recording)} />;
  if (recorder.phase === "recording" || recorder.phase === "paused")
    return (
      <div className={styles.field}>
        <RecordingBar recorder={recorder} />
      </div>
    );
  return (
    <div className={styles.field}>
      <UploadChips place={place} />
      {!uploads.some(({ state }) => state !== "failed") && (
        <div className={styles.choices}>
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
          <ChooseButton onFile={upload} />
        </div>
      )}
      <RecordingFault recorder={recorder} fault={null} />
      <p className={styles.note}>
        {sentences(
          t("perMinute", { credits: credits(each) }),
          t("limits", { megabytes: recordingLimits.megabytes, minutes: seconds / 60 }),
        )}
      </p>
    </div>
  );
}
