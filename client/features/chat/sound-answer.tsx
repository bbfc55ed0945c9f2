import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { SoundPlayer } from "#client/components/sound-player.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { playTime } from "#client/lib/play-time.ts";
import { saveFile } from "#client/lib/save-file.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Segment } from "#contract/generations/sounds.ts";
import { textOf } from "#domain/messages.ts";
import type { SubtitleFormat } from "#domain/transcripts.ts";
import { speakersOf, subtitlesOf } from "#domain/transcripts.ts";
import { threadOf } from "./chat-store.ts";
import styles from "./sound-answer.module.css";
import type { LiveAnswer, ThreadMessage } from "./thread.ts";
import { filesOf } from "./thread.ts";

const nameLength = 60;

/** A file's name that every system takes, without the ending that it had. */
function plainName(text: string, fallback: string): string {
  const words = [
    ...text
      .replace(/\.\w{2,4}$/, "")
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim(),
  ]
    .slice(0, nameLength)
    .join("")
    .trim();
  return words === "" ? fallback : words;
}

/** What was read aloud, with its player. */
export function SpeechAnswer({ threadKey, live, message }: { threadKey: string; live: LiveAnswer | null; message: ThreadMessage | null }) {
  const { t } = useTranslation("sounds");
  const sound = message?.parts.find((part) => part.kind === "sound");
  if (live && live.phase !== "lost" && live.phase !== "sending")
    return (
      <p className={styles.note}>
        <Spinner size="small" />
        {t("speaking")}
      </p>
    );
  if (!message || !sound) return null;
  const question = threadOf(threadKey).all.find(({ id }) => id === message.parentId);
  const name = `${plainName(question ? textOf(question) : "", "speech")}.mp3`;
  return <SoundPlayer fileId={sound.fileId} durationMs={sound.durationMs} label={t("player")} name={name} />;
}

interface Turn {
  speaker: string | null;
  from: number;
  text: string;
}

/** What one speaker says at a stretch is one paragraph; without speakers, about half a minute is. */
function turnsOf(segments: readonly Segment[]): Turn[] {
  const turns: Turn[] = [];
  for (const { speaker, from, text } of segments) {
    const last = turns.at(-1);
    if (last && last.speaker === speaker && (speaker !== null || from - last.from < 30)) last.text += ` ${text}`;
    else turns.push({ speaker, from, text });
  }
  return turns;
}

/** The files that a transcript can be taken away as. */
function Downloads({ text, segments, name }: { text: string; segments: readonly Segment[]; name: string }) {
  const { t } = useTranslation("sounds");
  const { number } = useFormat();
  const nameOf = (speaker: number) => t("speaker", { number: number(speaker) });
  const save = (content: string, ending: string) =>
    saveFile(new Blob([content], { type: "text/plain;charset=utf-8" }), `${name}.${ending}`);
  const several = speakersOf(segments).size > 1;
  const plain = () => {
    if (!several) return text;
    const numbers = speakersOf(segments);
    return turnsOf(segments)
      .map(({ speaker, text: words }) => (speaker === null ? words : `${nameOf(numbers.get(speaker) ?? 0)}: ${words}`))
      .join("\n\n");
  };
  const formats: readonly SubtitleFormat[] = segments.length > 0 ? ["srt", "vtt"] : [];
  return (
    <div className={styles.downloads}>
      <Button size="small" aria-label={t("downloadAs", { format: "TXT" })} onClick={() => save(`${plain()}\n`, "txt")}>
        <Download size={16} aria-hidden="true" />
        TXT
      </Button>
      {formats.map((format) => (
        <Button
          key={format}
          size="small"
          aria-label={t("downloadAs", { format: format.toUpperCase() })}
          onClick={() => save(subtitlesOf(segments, format, nameOf), format)}
        >
          <Download size={16} aria-hidden="true" />
          {format.toUpperCase()}
        </Button>
      ))}
    </div>
  );
}

/** A transcript as a document: words as they were said, never as Markdown, with speakers and times where the model tells them. */
export function TranscriptAnswer({ threadKey, text, message }: { threadKey: string; text: string; message: ThreadMessage | null }) {
  const { t } = useTranslation("sounds");
  const { number } = useFormat();
  const segments = message?.parts.find((part) => part.kind === "segments")?.segments ?? [];
  const numbers = speakersOf(segments);
  if (text === "") return null;
  const question = message && threadOf(threadKey).all.find(({ id }) => id === message.parentId);
  const name = plainName((question && filesOf(question)[0]?.name) ?? "", "transcript");
  return (
    <div className={styles.document}>
      {segments.length === 0 ? (
        <p className={styles.words}>{text}</p>
      ) : (
        turnsOf(segments).map(({ speaker, from, text: words }) => (
          <p key={`${from} ${words.slice(0, 20)}`} className={styles.turn}>
            <span className={styles.when}>
              {playTime(from)}
              {speaker !== null && numbers.size > 1 && ` · ${t("speaker", { number: number(numbers.get(speaker) ?? 0) })}`}
            </span>
            <span className={styles.words}>{words}</span>
          </p>
        ))
      )}
      {message && <Downloads text={text} segments={segments} name={name} />}
    </div>
  );
}
