import { ArrowUp, Square } from "lucide-react";
import type { FormEvent, KeyboardEvent, ReactNode } from "react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useShallow } from "zustand/react/shallow";
import { Button, LinkButton } from "#client/components/button.tsx";
import { PriceTiles } from "#client/components/price-tiles.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import { paths } from "#client/paths.ts";
import { limits } from "#domain/rules.ts";
import { useChat } from "./chat-store.ts";
import styles from "./composer.module.css";
import { sendsMessage } from "./composing.ts";
import { isUnusable, mayAnswer, payableModel, successorOf } from "./model-choice.ts";
import type { OfferedModel } from "./models-store.ts";
import { useModels } from "./models-store.ts";
import { hasOutput, isUnstoppable, stopCredits } from "./thread.ts";
import type { ComposerFiles } from "./use-files.tsx";
import { useOffText } from "./use-off-text.ts";
import { usePauseEnd } from "./use-pause-end.ts";
import { DictationButton } from "./use-sounds.tsx";

/** The character count is shown from this length on. */
const countFrom = limits.promptMax - 1_000;

export interface ComposerProps {
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
  onStop: () => void;
  /** Chooses another model for the next send. */
  onUse: (modelId: string) => void;
  model: OfferedModel | undefined;
  /** The price of the send. */
  price: number;
  /** Available credits. */
  available: number;
  online: boolean;
  threadKey: string;
  /** The model's options: those for pictures and clips, or the voice that reads a text. */
  options: ReactNode;
  /** Shown instead of the prompt's field while the model transcribes recordings. */
  field: ReactNode;
  /** That replacement holds something to send. */
  fieldReady: boolean;
  /** What was spoken instead of typed. */
  onSpoken: (text: string) => void;
  /** The files of the question. */
  files: Pick<ComposerFiles, "blocked" | "list">;
  /** The controls beside Send: the model and, on a phone, the other conversations. */
  tools: ReactNode;
}

/** What the composer shows of the running answer; null if there is none. */
interface Pending {
  /** What it costs if it is stopped now. */
  credits: number | null;
  stopping: boolean;
  /** Nothing has arrived yet, so stopping is free. */
  isSilent: boolean;
  /** It can't be stopped any more. */
  goesOn: boolean;
}

function usePending(threadKey: string): Pending | null {
  return useChat(
    useShallow(({ threads }) => {
      const live = threads[threadKey]?.live;
      return live ? { credits: stopCredits(live), stopping: live.stopping, isSilent: !hasOutput(live), goesOn: isUnstoppable(live) } : null;
    }),
  );
}

function codePoints(text: string): number {
  // There are never more code points than code units, so counting matters only near the limit.
  return text.length < countFrom ? text.length : [...text.trim()].length;
}

/** Says why the chosen model can't be asked and offers another one. We never switch without asking. */
function Unreachable({ model, available, onUse }: { model: OfferedModel; available: number; onUse: (modelId: string) => void }) {
  const { t } = useTranslation("chat");
  const { credits } = useFormat();
  const { models } = useModels();
  const successor = model.ended ? successorOf(models, model.id) : undefined;
  const other = successor && mayAnswer(successor) ? successor : payableModel(models, model, available);
  const trial = model.needsPlan && !isUnusable(model);
  const { name } = model;
  const offText = useOffText(model);
  const when = usePauseEnd(model);
  const unusable = offText ?? (when === undefined ? t("pick.unreachable", { name }) : t("pick.unreachableUntil", { name, when }));
  const reason = model.ended ? t("pick.ended", { name }) : trial ? t("pick.notInTrial", { name }) : unusable;
  const use = (modelId: string) => {
    onUse(modelId);
    focusComposer();
  };
  return (
    <>
      <span>{reason}</span>
      {other && (
        <Button size="small" onClick={() => use(other.id)}>
          {t("pick.use", { name: other.name, credits: credits(other.credits) })}
        </Button>
      )}
      {trial && (
        <LinkButton size="small" href={paths.pricing}>
          {t("refusal.upgrade")}
        </LinkButton>
      )}
    </>
  );
}

/** The exact price of the send, or why it is not possible. */
function Price({
  model,
  price,
  available,
  online,
  onUse,
  live,
}: Pick<ComposerProps, "model" | "price" | "available" | "online" | "onUse"> & { live: Pending | null }) {
  const { t } = useTranslation("chat");
  const { credits, number } = useFormat();
  const { day } = useUtc();
  if (live) {
    if (live.credits === null || live.goesOn) return null;
    return <span>{live.isSilent ? t("composer.stopFree") : t("composer.stopFull", { credits: credits(live.credits) })}</span>;
  }
  if (!online) return <span>{t("composer.offline")}</span>;
  if (!model) return <span>{t("model.chooseFirst")}</span>;
  if (!mayAnswer(model)) return <Unreachable model={model} available={available} onUse={onUse} />;
  return (
    <>
      <PriceTiles credits={price} />
      <span>
        {t(model.unit === "answer" ? "composer.price" : "composer.picturePrice", { credits: credits(price) })} ·{" "}
        {t("composer.available", { number: number(available) })}
        {model.until !== null && ` · ${t("tile.leaves", { date: day(model.until) })}`}
      </span>
    </>
  );
}

const fieldName = "prompt";

/** Focuses the composer with the cursor at the end, after the new text is rendered. */
export function focusComposer(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLTextAreaElement>(`textarea[name="${fieldName}"]`);
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
    if (field) field.scrollTop = field.scrollHeight;
  });
}

/** With the price where it depends on what is chosen beside it; in a narrow window its number alone. */
function SendButton({ ready, price }: { ready: boolean; price: number | undefined }) {
  const { t } = useTranslation("chat");
  const { credits, number } = useFormat();
  return (
    <Button className={styles.send ?? ""} type="submit" variant="primary" disabled={!ready} aria-describedby="composer-price">
      <ArrowUp size={18} aria-hidden="true" />
      <span className={styles.sendWord}>{t("composer.send")}</span>
      {price !== undefined && (
        <span className={styles.sendPrice}>
          <span className={styles.sendUnit}>{credits(price)}</span>
          <span className={styles.sendNumber} aria-hidden="true">
            {number(price)}
          </span>
        </span>
      )}
    </Button>
  );
}

function StopButton({ live, onStop }: { live: Pending; onStop: () => void }) {
  const { t } = useTranslation("chat");
  const { stopping, goesOn } = live;
  return (
    <Button className={styles.send ?? ""} busy={stopping} busyLabel={t("composer.stopping")} disabled={goesOn} onClick={onStop}>
      <Square size={14} fill="currentColor" aria-hidden="true" />
      <span className={styles.sendWord}>{t("composer.stop")}</span>
    </Button>
  );
}

interface PromptFieldProps extends Pick<ComposerProps, "text" | "onText"> {
  tooLong: boolean;
  onSubmit: () => void;
}

function PromptField({ text, onText, tooLong, onSubmit }: PromptFieldProps) {
  const { t } = useTranslation("chat");
  const compositionEndedAt = useRef<number | undefined>(undefined);
  function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
    const { key, shiftKey, keyCode, timeStamp } = event;
    if (!sendsMessage({ key, shiftKey, keyCode, timeStamp, isComposing: event.nativeEvent.isComposing }, compositionEndedAt.current))
      return;
    event.preventDefault();
    onSubmit();
  }
  return (
    <textarea
      className={styles.text}
      name={fieldName}
      rows={1}
      aria-label={t("composer.label")}
      aria-describedby="composer-price"
      aria-invalid={tooLong || undefined}
      placeholder={t("composer.placeholder")}
      title={t("composer.keys")}
      enterKeyHint="send"
      value={text}
      onChange={(event) => onText(event.target.value)}
      onKeyDown={onKeyDown}
      onCompositionEnd={(event) => {
        compositionEndedAt.current = event.timeStamp;
      }}
    />
  );
}

/** The field for prompts. It stays at the bottom, in reach of a thumb, above the keyboard and the safe area. */
export function Composer(props: ComposerProps) {
  const {
    text,
    onText,
    onSend,
    onStop,
    onUse,
    model,
    price,
    available,
    online,
    threadKey,
    options,
    field,
    fieldReady,
    onSpoken,
    files,
    tools,
  } = props;
  const [slot, setSlot] = useState<HTMLElement | null>(null);
  const live = usePending(threadKey);
  const { t } = useTranslation("chat");
  const { number } = useFormat();
  const count = codePoints(text);
  const tooLong = count > limits.promptMax;
  const limit = number(limits.promptMax);
  const isRecording = model?.unit === "minute" && mayAnswer(model);
  const filled = isRecording ? fieldReady : text.trim() !== "" && !tooLong && !files.blocked;
  const ready = filled && model !== undefined && mayAnswer(model) && online && live === null;

  function submit(event?: FormEvent): void {
    event?.preventDefault();
    if (ready) onSend();
  }

  return (
    <form className={styles.composer} onSubmit={submit}>
      <div className={styles.box}>
        {isRecording && field}
        <div className={styles.typed} hidden={isRecording}>
          <PromptField {...{ text, onText, tooLong }} onSubmit={submit} />
        </div>
        {!isRecording && files.list}
        {options}
        <div ref={setSlot} />
        <div className={styles.tools}>
          {tools}
          {!isRecording && <DictationButton slot={slot} onText={onSpoken} />}
          {live ? (
            <StopButton live={live} onStop={onStop} />
          ) : (
            <SendButton ready={ready} price={model && model.unit !== "answer" ? price : undefined} />
          )}
        </div>
      </div>
      <p className={styles.price} id="composer-price">
        <Price model={model} price={price} available={available} online={online} onUse={onUse} live={live} />
        {!isRecording && count > countFrom && (
          <span className={tooLong ? styles.fault : undefined}>
            {tooLong ? t("composer.tooLong", { count: limits.promptMax, formatted: limit }) : t("composer.characters", { count, limit })}
          </span>
        )}
      </p>
    </form>
  );
}
