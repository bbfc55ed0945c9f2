import i18next from "i18next";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import type { FileInfo } from "#contract/files.ts";
import type { AttachedFile } from "#contract/generations/generations.ts";
import { hears, isSound } from "#domain/attachments.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { charactersOf, languageOfText, readersOf } from "#domain/speech.ts";
import { lateModule } from "./late-module.ts";
import { mayAnswer } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { newThreadKey } from "./thread.ts";
import type { Drafting } from "./use-draft.ts";

/** With its texts. */
const useRecordingComposer = lateModule(async () => {
  await i18next.loadNamespaces(["sounds", "files", "errors", "refusals", "uploads"]);
  return import("./recording-composer.tsx");
});
const useSpeechComposer = lateModule(async () => {
  await i18next.loadNamespaces("sounds");
  return import("./speech-composer.tsx");
});

const useDictationButton = lateModule(async () => {
  await i18next.loadNamespaces(["sounds", "errors", "refusals", "uploads"]);
  return import("./dictation.tsx");
});

/** The button for speaking a prompt. Shown while a model that transcribes can be asked. `slot`: where its panel is shown. */
export function DictationButton({ slot, onText }: { slot: HTMLElement | null; onText: (text: string) => void }) {
  const model = useModels(({ models }) => models.find((each) => each.unit === "minute" && mayAnswer(each)));
  const late = useDictationButton(model !== undefined);
  return model && late ? <late.Dictation {...{ model, slot, onText }} /> : null;
}

const useSharing = lateModule(() => import("./shared-recording.ts"));

/** Takes a recording that another app shared, once `isReady`: from then on uploads are added to the draft. */
export function useSharedRecording(threadKey: string, follow: Drafting["follow"], isReady: boolean): void {
  const late = useSharing(isReady && threadKey === newThreadKey);
  const latest = useRef(follow);
  latest.current = follow;
  useEffect(() => {
    if (threadKey === newThreadKey) void late?.takeRecording((by) => latest.current(by));
  }, [late, threadKey]);
}

interface Sounds {
  price: number;
  /** The choice of a voice. */
  options: ReactNode;
  /** Replaces the prompt's field. */
  field: ReactNode;
  /** What is sent instead of a prompt and its files. */
  recording: AttachedFile | undefined;
  /** Nothing can be sent: no voice reads what is typed. */
  isPending: boolean;
}

/** The text's language if no voice of the model can read its letters. */
function unreadOf({ id }: OfferedModel, text: string): string | undefined {
  const language = languageOfText(text, "en");
  return readersOf({ id }, language).length > 0 ? undefined : language;
}

/** The recording of the draft as it will stand in the thread. */
function toAttached({ id: fileId, name, contentType, bytes, durationMs }: FileInfo): AttachedFile {
  const reading = { as: "sound" as const, pages: null, cut: false };
  return { fileId, name, contentType, bytes, width: null, height: null, pages: null, durationMs: durationMs ?? 0, reading };
}

/** For a model that writes down or reads aloud; undefined for any other. */
export function useSounds(
  model: OfferedModel | undefined,
  { draft, change }: Pick<Drafting, "draft" | "change">,
  threadKey: string,
): Sounds | undefined {
  const usable = model !== undefined && mayAnswer(model);
  const writesDown = usable && hears(model);
  const speaks = usable && model.unit === "thousand_characters";
  const recordingComposer = useRecordingComposer(writesDown);
  const speechComposer = useSpeechComposer(speaks);
  if (speaks) {
    const unread = unreadOf(model, draft.text);
    return {
      price: quoteCredits(model, { characters: charactersOf(draft.text.trim()) }),
      options: speechComposer && <speechComposer.SpeechComposer modelId={model.id} unread={unread} />,
      field: undefined,
      recording: undefined,
      isPending: unread !== undefined,
    };
  }
  if (!writesDown) return undefined;
  const files = draft.files ?? [];
  const recording = files.find(isSound);
  const onRecording = (chosen: FileInfo | null) =>
    change({ files: [...files.filter((file) => !isSound(file)), ...(chosen ? [chosen] : [])], unsettledKey: null });
  return {
    price: quoteCredits(model, { seconds: (recording?.durationMs ?? 0) / 1_000 }),
    options: null,
    field: recordingComposer && (
      <recordingComposer.RecordingComposer
        key={`${threadKey} ${model.id}`}
        threadKey={threadKey}
        modelId={model.id}
        recording={recording}
        credits={model.credits}
        onRecording={onRecording}
        onUse={(modelId) => change({ modelId })}
      />
    ),
    recording: recording && toAttached(recording),
    isPending: false,
  };
}
