import { Mic } from "lucide-react";
import type { KeyboardEvent, MouseEvent, PointerEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { ApiProblem, api, isAbort } from "#client/lib/api.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { playTime } from "#client/lib/play-time.ts";
import { recordingName, useRecorder } from "#client/lib/recorder.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { FileInfo } from "#contract/files.ts";
import { quoteCredits } from "#domain/pricing.ts";
import { recordingSecondsOf } from "#domain/transcripts.ts";
import { followAnswer, silentListener } from "./answer-stream.ts";
import { useChat } from "./chat-store.ts";
import styles from "./dictation.module.css";
import type { OfferedModel } from "./models-store.ts";
import { RecordingBar, RecordingFault } from "./recording-composer.tsx";
import { useRecordingUpload } from "./use-recording-upload.ts";

/** After holding the button for longer than this, letting go ends the recording; a shorter press is a tap. */
const holdMs = 500;
/** The price was read once on this page; after that the button begins at once. */
let agreed = false;

/** What was uploaded and is to be written down. The key stays, so that trying again costs nothing twice. */
interface Spoken {
  info: FileInfo;
  price: number;
  idempotencyKey: string;
}

type Outcome = { text: string } | { code: string };

async function writeDown(model: OfferedModel, spoken: Spoken, confirmed: boolean, signal: AbortSignal): Promise<Outcome> {
  const { info, price, idempotencyKey } = spoken;
  const request = {
    model: model.id,
    prompt: info.name,
    attachments: [info.id],
    quotedCredits: price,
    dictated: true,
    ...(confirmed && { confirmed }),
  };
  let text = "";
  const arrived = (more: string) => {
    text += more;
  };
  const hear = { ...silentListener, arrived };
  try {
    const receipt = await followAnswer({ request, idempotencyKey }, hear, signal);
    if (receipt.availableAfter !== null) useChat.setState({ lastAvailable: receipt.availableAfter });
    return receipt.status === "completed" ? { text } : { code: receipt.failureCode === "provider_empty" ? "nothing" : "failed" };
  } catch (error) {
    if (isAbort(error)) throw error;
    return { code: error instanceof ApiProblem ? error.code : "network" };
  }
}

/**
 * Uploads a recording and has it transcribed. If it costs more than the one minute that the person agreed to, or did not end because the
 * person wanted it to, the recording is kept and the person is asked first, with its price.
 */
function useDictation(model: OfferedModel, onText: (text: string) => void) {
  const { t } = useTranslation("sounds");
  const isWished = useRef(false);
  const [writing, setWriting] = useState(false);
  const [asked, setAsked] = useState<Spoken | null>(null);
  const [code, setCode] = useState<string | null>(null);
  const running = useRef<AbortController | undefined>(undefined);
  const latest = useRef(onText);
  latest.current = onText;
  useEffect(() => () => running.current?.abort(), []);

  const forget = (spoken: Spoken | null) => {
    setAsked(null);
    // If the call fails, the server deletes the file a week later.
    if (spoken) void api("DELETE /api/files/:id", { params: { id: spoken.info.id } }).catch(() => {});
  };
  const send = async (spoken: Spoken, confirmed: boolean) => {
    const controller = new AbortController();
    running.current = controller;
    setWriting(true);
    setCode(null);
    try {
      const outcome = await writeDown(model, spoken, confirmed, controller.signal);
      if ("text" in outcome) {
        latest.current(outcome.text.trim());
        forget(spoken);
      } else if (outcome.code === "nothing") {
        setCode(outcome.code);
        forget(spoken);
      } else {
        // Keep it, to ask about it or for another try. If the outcome is unknown, the same key prevents a second charge.
        const isOver = outcome.code !== "network" && outcome.code !== "unexpected";
        setAsked(isOver ? { ...spoken, idempotencyKey: crypto.randomUUID() } : spoken);
        if (outcome.code !== "confirmation_required") setCode(outcome.code);
      }
    } catch {
      // The person has cancelled.
    } finally {
      setWriting(false);
    }
  };
  const upload = useRecordingUpload((info) => {
    const price = quoteCredits(model, { seconds: (info.durationMs ?? 0) / 1_000 });
    const spoken = { info, price, idempotencyKey: crypto.randomUUID() };
    if (!isWished.current || price > model.credits) setAsked(spoken);
    else void send(spoken, false);
  });
  const recorder = useRecorder(recordingSecondsOf(knownModel(model.id) ?? model), (recorded, wished) => {
    isWished.current = wished;
    void upload.upload(recorded, recordingName(recorded, t("dictate.label")));
  });
  const price = quoteCredits(model, { seconds: recorder.milliseconds / 1_000 });
  const start = () => {
    setCode(null);
    upload.clear();
    recorder.start();
  };
  return { recorder, upload, price, writing, asked, code, start, send, forget: () => forget(asked) };
}

interface PanelProps {
  model: OfferedModel;
  dictation: ReturnType<typeof useDictation>;
  /** The price has not been read on this page yet. */
  explaining: boolean;
  onAgree: () => void;
}

/** What it costs, first. */
function Explained({ model, onAgree }: Pick<PanelProps, "model" | "onAgree">) {
  const { t } = useTranslation("sounds");
  const { credits } = useFormat();
  return (
    <>
      <p className={styles.title}>{t("dictate.title")}</p>
      <p>{t("dictate.text", { model: model.name, credits: credits(model.credits) })}</p>
      <p className={styles.note}>{t("dictate.hold")}</p>
      <div className={styles.row}>
        <Button size="small" variant="primary" onClick={onAgree}>
          <Mic size={16} aria-hidden="true" />
          {t("dictate.start")}
        </Button>
      </div>
    </>
  );
}

/** What is going on, above the tools of the composer. */
function Panel({ model, dictation, explaining, onAgree }: PanelProps) {
  const { t } = useTranslation(["sounds", "errors", "refusals", "uploads"]);
  const { credits } = useFormat();
  const { recorder, upload, price, writing, asked, code, send, forget } = dictation;
  const isRecording = recorder.phase === "recording" || recorder.phase === "paused";
  const busy = upload.busy || writing;
  const said = code === "nothing" || code === "failed" ? t(`sounds:dictate.${code}`) : code && problemText(code);
  const isShown = explaining || isRecording || busy || asked || code || recorder.fault || upload.fault;
  if (!isShown) return null;
  return (
    <div className={styles.panel}>
      {explaining && <Explained model={model} onAgree={onAgree} />}
      {isRecording && (
        <RecordingBar recorder={recorder}>
          <span className={styles.note}>{t("sounds:dictate.price", { credits: credits(price) })}</span>
        </RecordingBar>
      )}
      {busy && (
        <p className={styles.row}>
          <Spinner size="small" />
          {t(writing ? "sounds:dictate.busy" : "sounds:uploading")}
        </p>
      )}
      {said && (
        <p className={styles.fault} role="alert">
          {said}
        </p>
      )}
      {asked && !busy && (
        <div className={styles.row}>
          <span>{t("sounds:dictate.longer", { time: playTime((asked.info.durationMs ?? 0) / 1_000) })}</span>
          <Button size="small" variant="primary" onClick={() => void send(asked, true)}>
            {t("sounds:dictate.send", { credits: credits(asked.price) })}
          </Button>
          <Button size="small" onClick={forget}>
            {t("sounds:discard")}
          </Button>
        </div>
      )}
      {!busy && <RecordingFault recorder={recorder} fault={upload.fault} />}
      {!busy && upload.again && (
        <div className={styles.row}>
          <Button size="small" variant="primary" onClick={upload.again}>
            {t("sounds:retry")}
          </Button>
          <Button size="small" onClick={upload.clear}>
            {t("sounds:discard")}
          </Button>
        </div>
      )}
    </div>
  );
}

interface DictationProps {
  model: OfferedModel;
  onText: (text: string) => void;
  /** Above the tools: where everything but the button is shown. */
  slot: HTMLElement | null;
}

/** The button: tap to begin and to end, or hold while speaking. */
export function Dictation({ model, onText, slot }: DictationProps) {
  const { t } = useTranslation("sounds");
  const dictation = useDictation(model, onText);
  const { recorder, upload, writing, asked, start } = dictation;
  const [explaining, setExplaining] = useState(false);
  const pressedAt = useRef<number | undefined>(undefined);
  const isRecording = recorder.phase === "recording" || recorder.phase === "paused";
  const isOpening = recorder.phase === "asking";
  // A new recording would replace one that waits for the person's answer or could not be uploaded yet.
  const busy = upload.busy || writing || asked !== null || upload.again !== null;

  const begin = () => {
    if (!agreed) return setExplaining((shown) => !shown);
    start();
  };
  const agree = () => {
    agreed = true;
    setExplaining(false);
    start();
  };
  const press = (event: PointerEvent<HTMLButtonElement>) => {
    if (event.button !== 0 || busy) return;
    // Captured, so that the button gets the release wherever the finger is by then.
    event.currentTarget.setPointerCapture(event.pointerId);
    if (isRecording || isOpening) return;
    pressedAt.current = performance.now();
    begin();
  };
  /** The finger is up or, with `isTaken`, the browser took the gesture over: then the person has not asked for a transcript. */
  const release = (isTaken: boolean) => {
    const since = pressedAt.current;
    pressedAt.current = undefined;
    if (since !== undefined && performance.now() - since <= holdMs && !isTaken) return;
    // Without this the recording would begin after the finger is up.
    if (isOpening) recorder.cancel();
    else if (isRecording && isTaken) recorder.breakOff();
    else if (isRecording) recorder.finish();
  };
  // Pointers are handled above. Keys and screen readers send a click with `detail` 0.
  const click = (event: MouseEvent) => {
    if (event.detail > 0 || busy) return;
    if (isRecording) recorder.finish();
    else if (isOpening) recorder.cancel();
    else begin();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      recorder.cancel();
      setExplaining(false);
    }
  };

  return (
    <>
      {slot && createPortal(<Panel {...{ model, dictation, explaining }} onAgree={agree} />, slot)}
      <IconButton
        label={t(isRecording ? "finish" : "dictate.label")}
        aria-pressed={isRecording}
        aria-disabled={busy}
        onPointerDown={press}
        onPointerUp={() => release(false)}
        onPointerCancel={() => release(true)}
        onClick={click}
        onKeyDown={onKey}
      >
        <Mic size={20} aria-hidden="true" />
      </IconButton>
    </>
  );
}
