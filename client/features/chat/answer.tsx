import i18next from "i18next";
import { RotateCw, Square, Volume2 } from "lucide-react";
import { memo, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { ModelPattern } from "#client/components/model-pattern.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { knownModel } from "#client/lib/known-models.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { Receipt, Source } from "#contract/generations/generations.ts";
import { textOf } from "#domain/messages.ts";
import { useChat } from "./chat-store.ts";
import { CopyButton } from "./copy-button.tsx";
import { FailureText } from "./failure-text.tsx";
import { GoOn } from "./go-on.tsx";
import { lateModule } from "./late-module.ts";
import type { TextEnd } from "./markdown-blocks.ts";
import { Markdown } from "./markdown-view.tsx";
import { readsAloud } from "./model-choice.ts";
import { useModels } from "./models-store.ts";
import { priceAgain } from "./price-again.ts";
import { ReceiptLines, useReceiptSummary } from "./receipt-view.tsx";
import { TextMarks } from "./text-marks.ts";
import styles from "./thread.module.css";
import type { LiveAnswer, ThreadMessage } from "./thread.ts";
import { useMayAsk } from "./use-may-ask.ts";
import { Versions } from "./versions.tsx";

/** Shows another version of a message, `step` versions further. */
export type Walk = (message: ThreadMessage, step: number) => void;

function ModelName({ modelId }: { modelId: string }) {
  const model = knownModel(modelId);
  return (
    <p className={styles.author}>
      {model && <ModelPattern modelId={model.id} category={model.category} className={styles.badge} />}
      {model?.name ?? modelId}
    </p>
  );
}

/** With its texts. */
const usePictureAnswer = lateModule(async () => {
  await i18next.loadNamespaces(["pictures", "clips"]);
  return import("./picture-answer.tsx");
});
const useClipAnswer = lateModule(async () => {
  await i18next.loadNamespaces(["pictures", "clips"]);
  return import("./clip-answer.tsx");
});
const useSoundAnswer = lateModule(async () => {
  await i18next.loadNamespaces("sounds");
  return import("./sound-answer.tsx");
});
const useReadAloud = lateModule(async () => {
  await i18next.loadNamespaces(["sounds", "errors", "refusals", "uploads"]);
  return import("./read-aloud.tsx");
});
const useSourceCards = lateModule(() => import("./source-cards.tsx"));
const useSourceMarks = lateModule(() => import("./source-marks.tsx"));
const noSources: readonly Source[] = [];

function sourcesOf(message: ThreadMessage | null): readonly Source[] {
  return message?.parts.find((part) => part.kind === "sources")?.sources ?? noSources;
}

type Retry = (answer: ThreadMessage) => void;

interface FootProps {
  threadKey: string;
  message: ThreadMessage;
  receipt: Receipt;
  onRetry: Retry;
  onAsk: (message: ThreadMessage) => void;
}

/** Asks the same again. It reads from the store whether that is possible now; as a prop, a change would render every answer again. */
function RetryButton({ threadKey, message, receipt, onRetry }: FootProps) {
  const { t } = useTranslation("chat");
  const { credits } = useFormat();
  const price = useModels(({ models }) => {
    const model = models.find(({ id }) => id === receipt.modelId);
    return model && priceAgain(model, receipt);
  });
  const mayAsk = useMayAsk(threadKey);
  // A model that has left can't be asked again; the button beside this one asks another.
  if (!mayAsk || price === undefined) return null;
  return (
    <Button size="small" onClick={() => onRetry(message)}>
      {t("answer.retry", { credits: credits(price) })}
    </Button>
  );
}

/** Asks any model the same question, for another version of the answer. */
function AgainButton({ threadKey, message, onAsk }: FootProps) {
  const { t } = useTranslation("chat");
  if (!useMayAsk(threadKey)) return null;
  return (
    <IconButton label={t("versions.again")} onClick={() => onAsk(message)}>
      <RotateCw size={18} aria-hidden="true" />
    </IconButton>
  );
}

/** Below a finished answer: why it failed, its receipt, and its buttons. */
function Foot(foot: FootProps) {
  const { message, receipt } = foot;
  const { t } = useTranslation("chat");
  const summary = useReceiptSummary();
  const failed = receipt.status === "failed";
  const text = textOf(message);
  const isReadAloud = useModels(({ models }) => models.some(readsAloud));
  const [aloud, setAloud] = useState(false);
  const reading = useReadAloud(aloud);
  return (
    <>
      {failed && (
        <div className={styles.failure}>
          <p className={styles.failureTitle}>{t("failure.title")}</p>
          <p>
            <FailureText receipt={receipt} />
          </p>
        </div>
      )}
      {receipt.cutShort && <GoOn threadKey={foot.threadKey} message={message} />}
      <div className={styles.foot}>
        <details className={styles.receipt} data-free={receipt.chargedCredits === 0 || undefined}>
          <summary>{failed ? t("receipt.title") : summary(receipt)}</summary>
          <ReceiptLines receipt={receipt} />
        </details>
        {text !== "" && <CopyButton label={t("answer.copy")} text={text} />}
        {text !== "" && isReadAloud && (
          <IconButton label={t("answer.readAloud")} aria-expanded={aloud} onClick={() => setAloud((open) => !open)}>
            <Volume2 size={18} aria-hidden="true" />
          </IconButton>
        )}
        <AgainButton {...foot} />
        {(failed || receipt.status === "stopped") && <RetryButton {...foot} />}
      </div>
      {aloud && reading && <reading.ReadAloud answerId={receipt.generationId} text={text} />}
    </>
  );
}

/** What a running answer is waiting for. */
function Progress({ live }: { live: LiveAnswer }) {
  const { t } = useTranslation("chat");
  if (live.phase !== "lost" && live.text !== "") return null;
  if ((live.picture || live.clip || live.speech) && live.phase === "waiting") return null;
  const waiting = live.phase === "sending" ? "answer.sending" : "answer.waiting";
  return (
    <p className={styles.note}>
      <Spinner size="small" /> {t(live.phase === "lost" ? "answer.lost" : waiting)}
    </p>
  );
}

function endOf(message: ThreadMessage | null): TextEnd {
  if (!message) return "growing";
  return message.receipt === null || (message.receipt.status === "completed" && !message.receipt.cutShort) ? "whole" : "cut";
}

interface AnswerProps {
  threadKey: string;
  /** Null while the answer is running. */
  message: ThreadMessage | null;
  onRetry: Retry;
  onAsk: (message: ThreadMessage) => void;
  onWalk: Walk;
  /** The number of this version of the answer, from 1, and how many there are. */
  version: number;
  versions: number;
}

/**
 * A running or finished answer. One component for both, so that a long answer is not rendered again when it ends. While it grows, it is
 * the only part of the thread that renders.
 */
export const Answer = memo(function Answer({ threadKey, message, onRetry, onAsk, onWalk, version, versions }: AnswerProps) {
  const { t } = useTranslation("chat");
  const live = useChat((state) => (message ? null : (state.threads[threadKey]?.live ?? null)));
  const receipt = message?.receipt ?? null;
  const modelId = live?.modelId ?? receipt?.modelId;
  const text = message ? textOf(message) : (live?.text ?? "");
  const sources = sourcesOf(message);
  const cards = useSourceCards(sources.length > 0);
  const id = useId();
  const sourceMarks = useSourceMarks(sources.length > 0);
  const marked = useMemo(() => sourceMarks?.marker(sources, id) ?? null, [sourceMarks, sources, id]);
  const asked = live ?? receipt;
  const pictures = usePictureAnswer(asked?.picture !== undefined);
  const clip = useClipAnswer(asked?.clip !== undefined);
  const sounds = useSoundAnswer(asked?.speech !== undefined || asked?.recording !== undefined);
  return (
    <article className={styles.answer} aria-busy={live ? true : undefined}>
      <div className={styles.answerHead}>
        {modelId !== undefined && <ModelName modelId={modelId} />}
        {message && <Versions number={version} total={versions} onWalk={(step) => onWalk(message, step)} />}
      </div>
      {live && live.trimmedMessages > 0 && <p className={styles.note}>{t("answer.trimmed", { count: live.trimmedMessages })}</p>}
      {text !== "" && asked?.recording === undefined && (
        <TextMarks value={marked}>
          <Markdown text={text} end={endOf(message)} />
        </TextMarks>
      )}
      {asked?.recording && sounds && <sounds.TranscriptAnswer {...{ threadKey, text, message }} />}
      {asked?.speech && sounds && <sounds.SpeechAnswer {...{ threadKey, live, message }} />}
      {cards && <cards.SourceCards sources={sources} text={text} answer={id} />}
      {pictures && <pictures.PictureAnswer threadKey={threadKey} live={live} message={message} />}
      {clip && <clip.ClipAnswer threadKey={threadKey} live={live} message={message} />}
      {receipt?.status === "stopped" && text !== "" && (
        <p className={styles.note}>
          <Square size={12} fill="currentColor" aria-hidden="true" />
          {t("marks.stopped")}
        </p>
      )}
      {live && <Progress live={live} />}
      {message && receipt && <Foot {...{ threadKey, message, receipt, onRetry, onAsk }} />}
    </article>
  );
});
