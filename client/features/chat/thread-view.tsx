import { ArrowDown, Pencil } from "lucide-react";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { textOf } from "#domain/messages.ts";
import type { Walk } from "./answer.tsx";
import { Answer } from "./answer.tsx";
import { versionsOf } from "./branches.ts";
import { reload, showVersion, threadOf, useChat } from "./chat-store.ts";
import { CopyButton } from "./copy-button.tsx";
import styles from "./thread.module.css";
import type { ThreadMessage } from "./thread.ts";
import { emptyThread, filesOf } from "./thread.ts";
import { useSentFiles } from "./use-files.tsx";
import { useMayAsk } from "./use-may-ask.ts";
import { Versions } from "./versions.tsx";

/** Closer to the end than this counts as being at the end. In pixels. */
const nearEndPixels = 24;

/** Enough messages to fill any window. The rest of a long conversation is rendered afterwards, a few at a time. */
const firstMessages = 20;
const messagesAtOnce = 8;
const layOutEveryMs = 30;

/** How many of the newest entries to render now. Rendering hundreds at once would block the page. */
function useGrowingCount(total: number): number {
  const [count, setCount] = useState(firstMessages);
  const complete = count >= total;
  useEffect(() => {
    if (complete) return;
    const timer = setInterval(() => setCount((before) => before + messagesAtOnce), layOutEveryMs);
    return () => clearInterval(timer);
  }, [complete]);
  return complete ? total : count;
}

interface Following {
  container: React.RefObject<HTMLDivElement | null>;
  /** Whether the reader is at the end, so that we scroll with new text. */
  atEnd: boolean;
  onScroll: () => void;
  keepUp: () => void;
  goToEnd: () => void;
  /** Keeps the visible part in place while the content below it changes its height. */
  stayHere: () => void;
}

/** Scrolls with new text until the reader scrolls up, and again once they are back at the end. */
function useFollowing(): Following {
  const container = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const last = useRef({ scrollTop: 0, scrollHeight: 0, clientHeight: Number.POSITIVE_INFINITY });
  const [atEnd, setAtEnd] = useState(true);

  const keepUp = useCallback(() => {
    const element = container.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, []);

  const onScroll = useCallback(() => {
    const element = container.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPixels;
    const { scrollTop, scrollHeight, clientHeight } = element;
    // Growing content never scrolls up: the reader does. The browser does it too, if the content became shorter or its window taller.
    const isReader = scrollHeight >= last.current.scrollHeight && clientHeight <= last.current.clientHeight;
    if (scrollTop < last.current.scrollTop - 1 && isReader) follows.current = near;
    else if (near) follows.current = true;
    last.current = { scrollTop, scrollHeight, clientHeight };
    setAtEnd(follows.current);
  }, []);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    keepUp();
  }, [keepUp]);

  const stayHere = useCallback(() => {
    follows.current = false;
  }, []);

  return { container, atEnd, onScroll, keepUp, goToEnd, stayHere };
}

/** Whether the person can ask in this thread now. Each button reads it itself; a prop would render every message again. */
function EditButton({ threadKey, message, onAsk }: Pick<ThreadViewProps, "threadKey" | "onAsk"> & { message: ThreadMessage }) {
  const { t } = useTranslation("chat");
  if (!useMayAsk(threadKey)) return null;
  return (
    <IconButton label={t("versions.edit")} onClick={() => onAsk(message)}>
      <Pencil size={18} aria-hidden="true" />
    </IconButton>
  );
}

interface QuestionProps extends VersionPlace, Pick<ThreadViewProps, "threadKey" | "onAsk"> {
  message: ThreadMessage;
  onWalk: Walk;
}

/** What shows files is loaded with the first question that has some. */
function QuestionFiles({ message }: { message: ThreadMessage }) {
  const files = filesOf(message);
  const late = useSentFiles(files.length > 0);
  return late && files.length > 0 ? <late.SentFiles files={files} /> : null;
}

const Question = memo(function Question({ threadKey, message, version, versions, onAsk, onWalk }: QuestionProps) {
  const { t } = useTranslation("chat");
  // The text of such a question is only the file's name, which the file's chip shows already.
  const isRecording = filesOf(message).some(({ reading }) => reading.as === "sound");
  return (
    <article className={styles.question}>
      <VisuallyHidden as="p">{t("thread.you")}</VisuallyHidden>
      <div className={styles.bubble}>
        <QuestionFiles message={message} />
        {!isRecording && (
          <>
            <p className={styles.prompt}>{textOf(message)}</p>
            <div className={styles.questionTools}>
              <EditButton {...{ threadKey, message, onAsk }} />
              <CopyButton label={t("marks.copyPrompt")} text={textOf(message)} />
            </div>
          </>
        )}
      </div>
      <Versions number={version} total={versions} onWalk={(step) => onWalk(message, step)} />
    </article>
  );
});

interface VersionPlace {
  /** From 1. */
  version: number;
  versions: number;
}

interface Entry extends VersionPlace {
  key: string;
  /** Null for the running answer. */
  message: ThreadMessage | null;
}

/** For each message, the number of its version and how many there are. */
function placesOf(all: readonly ThreadMessage[]): Map<string, VersionPlace> {
  const siblings = Map.groupBy(all, ({ parentId }) => parentId);
  const places = [...siblings.values()].flatMap((versions) =>
    versions.map(({ id }, index) => [id, { version: index + 1, versions: versions.length }] as const),
  );
  return new Map(places);
}

const only: VersionPlace = { version: 1, versions: 1 };

/**
 * The messages shown. Each one's key is the message before it, so that changing the version updates the same element and keeps
 * the focus.
 */
function useEntries(threadKey: string): Entry[] {
  const all = useChat((state) => (state.threads[threadKey] ?? emptyThread).all);
  const messages = useChat((state) => (state.threads[threadKey] ?? emptyThread).messages);
  const liveKey = useChat((state) => state.threads[threadKey]?.live?.questionId);
  const places = useMemo(() => placesOf(all), [all]);
  const entries: Entry[] = messages.map((message) => ({
    key: message.parentId ?? "first",
    message,
    ...(places.get(message.id) ?? only),
  }));
  // The running answer does not belong below another version of its question.
  if (liveKey !== undefined && (liveKey === null || messages.at(-1)?.id === liveKey))
    entries.push({ key: liveKey ?? "live", message: null, ...only });
  return entries;
}

/** Messages per group. The browser skips a group while it is outside the window. */
const groupSize = 10;

/** The newest `drawn` entries in groups whose members never change, so that new messages don't render them again. */
function inGroups(entries: readonly Entry[], drawn: number): { key: number; entries: readonly Entry[] }[] {
  const first = Math.max(0, entries.length - drawn);
  const groups = [];
  for (let key = Math.floor(first / groupSize); key * groupSize < entries.length; key += 1) {
    groups.push({ key, entries: entries.slice(Math.max(first, key * groupSize), (key + 1) * groupSize) });
  }
  return groups;
}

interface ThreadViewProps {
  threadKey: string;
  /** Asks the question of `answer` again. The function must never change. */
  onRetry: (answer: ThreadMessage) => void;
  /** Opens the dialog to edit a question or ask it again. The function must never change. */
  onAsk: (message: ThreadMessage) => void;
}

export const ThreadView = memo(function ThreadView({ threadKey, onRetry, onAsk }: ThreadViewProps) {
  const { t } = useTranslation("chat");
  const messages = useChat((state) => (state.threads[threadKey] ?? emptyThread).messages);
  const load = useChat((state) => (state.threads[threadKey] ?? emptyThread).load);
  const asked = useChat((state) => (state.threads[threadKey] ?? emptyThread).all.filter((message) => message.role === "user").length);
  const isSending = useChat((state) => state.threads[threadKey]?.live?.phase === "sending");
  const entries = useEntries(threadKey);
  const { container, atEnd, onScroll, keepUp, goToEnd, stayHere } = useFollowing();
  const drawn = useGrowingCount(entries.length);

  // Always scroll to the person's own new prompt.
  useLayoutEffect(() => {
    if (asked > 0 || isSending) goToEnd();
  }, [goToEnd, asked, isSending]);
  // Scroll to a finished answer only if the reader was at the end.
  useLayoutEffect(() => {
    if (messages.length > 0) keepUp();
  }, [keepUp, messages]);

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    // The keyboard changes the thread's own size; answers that are rendered late change its content's.
    const observer = new ResizeObserver(keepUp);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [container, keepUp]);

  const onWalk = useCallback<Walk>(
    (message, step) => {
      const versions = versionsOf(threadOf(threadKey).all, message);
      const version = versions[versions.findIndex(({ id }) => id === message.id) + step];
      if (!version) return;
      stayHere();
      showVersion(threadKey, version);
    },
    [threadKey, stayHere],
  );

  const again = <Button onClick={() => void reload(threadKey)}>{t("thread.retry")}</Button>;
  return (
    <div className={styles.frame}>
      <div ref={container} className={styles.scroller} onScroll={onScroll}>
        <section className={styles.thread} aria-label={t("thread.label")}>
          {load === "loading" && <Spinner label={t("thread.loading")} />}
          {load === "failed" && <EmptyState title={t("thread.failed")} action={again} />}
          {load === "missing" && <EmptyState title={t("thread.missing")} />}
          {inGroups(entries, drawn).map((group) => (
            <div key={group.key} className={styles.group}>
              {group.entries.map(({ key, message, ...place }) =>
                message?.role === "user" ? (
                  <Question key={key} {...{ threadKey, message, onAsk, onWalk }} {...place} />
                ) : (
                  <Answer key={key} {...{ threadKey, message, onRetry, onAsk, onWalk }} {...place} />
                ),
              )}
            </div>
          ))}
        </section>
      </div>
      {!atEnd && (
        <IconButton className={styles.toEnd} label={t("thread.latest")} onClick={goToEnd}>
          <ArrowDown size={20} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  );
});
