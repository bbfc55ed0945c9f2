import { Download, Pause, Play, RotateCcw, VolumeX } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { apiResponse } from "#client/lib/api.ts";
import { playTime } from "#client/lib/play-time.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { speeds, useSpeechWish } from "#client/lib/speech-wish.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useStoredFile } from "#client/lib/use-stored-file.ts";
import { Button, IconButton } from "./button.tsx";
import styles from "./sound-player.module.css";

interface SoundPlayerProps {
  fileId: string;
  durationMs: number;
  /** What is heard, for those who can't see where the player stands. */
  label: string;
  /** The name of the file when it is downloaded. */
  name: string;
  /** Begins at once: the person has just asked for it. */
  autoPlay?: boolean;
}

/** Fetches the bytes with the token, because a link would open the player of the browser instead. */
function DownloadButton({ fileId, name }: Pick<SoundPlayerProps, "fileId" | "name">) {
  const { t } = useTranslation("sounds");
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const download = async () => {
    setState("busy");
    try {
      saveFile(await (await apiResponse("GET /api/files/:id", { params: { id: fileId } })).blob(), name);
      setState("idle");
    } catch {
      setState("failed");
    }
  };
  return (
    <IconButton
      label={t(state === "failed" ? "downloadFailed" : "download")}
      aria-disabled={state === "busy"}
      onClick={() => void download()}
    >
      <Download size={18} aria-hidden="true" />
    </IconButton>
  );
}

function SpeedSelect() {
  const { t } = useTranslation("sounds");
  const { number } = useFormat();
  const speed = useSpeechWish((wish) => wish.speed);
  return (
    <select
      className={styles.speed}
      aria-label={t("speed")}
      value={speed}
      onChange={(event) => useSpeechWish.setState({ speed: Number(event.target.value) })}
    >
      {speeds.map((each) => (
        <option key={each} value={each}>
          {number(each)}×
        </option>
      ))}
    </select>
  );
}

function Missing({ deleted, onRetry }: { deleted: boolean; onRetry: () => void }) {
  const { t } = useTranslation("sounds");
  return (
    <p className={styles.missing}>
      <VolumeX size={18} aria-hidden="true" />
      {t(deleted ? "deleted" : "unreadable")}
      {!deleted && (
        <Button size="small" onClick={onRetry}>
          {t("retry")}
        </Button>
      )}
    </p>
  );
}

interface SeekProps {
  seconds: number;
  length: number;
  onSeek: (to: number) => void;
}

/** Where it stands: a slider, which keys move too. */
function Seek({ seconds, length, onSeek }: SeekProps) {
  const { t } = useTranslation("sounds");
  const said = `${playTime(seconds)} / ${playTime(length)}`;
  return (
    <>
      <IconButton label={t("back")} onClick={() => onSeek(Math.max(0, seconds - 10))}>
        <RotateCcw size={18} aria-hidden="true" />
      </IconButton>
      <input
        className={styles.seek}
        type="range"
        min={0}
        max={Math.max(length, 0.1)}
        step={0.1}
        value={Math.min(seconds, length)}
        aria-label={t("position")}
        aria-valuetext={said}
        onChange={(event) => onSeek(Number(event.target.value))}
      />
      <span className={styles.time} aria-hidden="true">
        {said}
      </span>
    </>
  );
}

/** A sound of the person: play, seek by pointer or keys, speed, download. It says so if it was deleted or can't be read. */
export function SoundPlayer({ fileId, durationMs, label, name, autoPlay = false }: SoundPlayerProps) {
  const { t } = useTranslation("sounds");
  const audio = useRef<HTMLAudioElement>(null);
  const { address, failed, retry, onError } = useStoredFile(fileId);
  const speed = useSpeechWish((wish) => wish.speed);
  const [playing, setPlaying] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const length = durationMs / 1_000;

  useEffect(() => {
    if (audio.current) audio.current.playbackRate = speed;
  }, [speed]);

  if (address === null || failed) return <Missing deleted={address === null} onRetry={retry} />;
  const toggle = () => {
    const player = audio.current;
    if (!player) return;
    if (player.paused) void player.play().catch(() => setPlaying(false));
    else player.pause();
  };
  const seek = (to: number) => {
    setSeconds(to);
    if (audio.current) audio.current.currentTime = to;
  };
  return (
    <section className={styles.player} aria-label={label}>
      {address && (
        <audio
          ref={audio}
          src={address}
          preload="metadata"
          autoPlay={autoPlay}
          onLoadedMetadata={(event) => {
            event.currentTarget.playbackRate = speed;
          }}
          onPlay={() => setPlaying(true)}
          onPause={() => setPlaying(false)}
          onEnded={() => setPlaying(false)}
          onTimeUpdate={(event) => setSeconds(event.currentTarget.currentTime)}
          onError={onError}
        >
          {/* What is heard stands beside it as a text. */}
          <track kind="captions" />
        </audio>
      )}
      <IconButton label={t(playing ? "pause" : "play")} aria-disabled={!address} onClick={toggle}>
        {playing ? <Pause size={20} aria-hidden="true" /> : <Play size={20} aria-hidden="true" />}
      </IconButton>
      <Seek {...{ seconds, length }} onSeek={seek} />
      <SpeedSelect />
      <DownloadButton fileId={fileId} name={name} />
    </section>
  );
}
