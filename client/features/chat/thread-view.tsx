import { ArrowDown } from "lucide-react";
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { Answer } from "./answer.tsx";
import { reload, useChat } from "./chat-store.ts";
import { CopyButton } from "./copy-button.tsx";
import styles from "./thread.module.css";
import type { ThreadMessage } from "./thread.ts";
import { emptyThread } from "./thread.ts";

/** This close to the end counts as being there. */
const nearEndPixels = 24;

/** What fills a window and more; the rest of a long conversation is laid out behind it, some messages at a time. */
const firstMessages = 20;
const messagesAtOnce = 8;
const layOutEveryMs = 30;

/** How many of the newest entries to draw now: opening a thread of hundreds must not stop the page. */
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
  /** Whether the reader is at the end and wants to stay there. */
  atEnd: boolean;
  onScroll: () => void;
  keepUp: () => void;
  goToEnd: () => void;
}

/** Keeps the newest words in sight until the reader scrolls up, and again once they come back down. */
function useFollowing(): Following {
  const container = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const [atEnd, setAtEnd] = useState(true);

  const keepUp = useCallback(() => {
    const element = container.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, []);

  const onScroll = useCallback(() => {
    const element = container.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPixels;
    // Growing content never moves the view up; only the reader does.
    if (element.scrollTop < lastTop.current - 1) follows.current = near;
    else if (near) follows.current = true;
    lastTop.current = element.scrollTop;
    setAtEnd(follows.current);
  }, []);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    keepUp();
  }, [keepUp]);

  return { container, atEnd, onScroll, keepUp, goToEnd };
}

const Question = memo(function Question({ content }: { content: string }) {
  const { t } = useTranslation("chat");
  return (
    <article className={styles.question}>
      <VisuallyHidden as="p">{t("thread.you")}</VisuallyHidden>
      <p className={styles.prompt}>{content}</p>
      <div className={styles.questionTools}>
        <CopyButton label={t("marks.copyPrompt")} text={content} />
      </div>
    </article>
  );
});

interface Entry {
  key: string;
  /** Null: the answer under way. */
  message: ThreadMessage | null;
}

/** So many messages make a group, which is left out as a whole while it lies outside the window. */
const groupSize = 10;

/** The newest `drawn` entries in groups that keep their members for good, so that what is added never draws them anew. */
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
  /** Asks the question before `answer` again. The same function for good. */
  onRetry: (answer: ThreadMessage) => void;
}

export const ThreadView = memo(function ThreadView({ threadKey, onRetry }: ThreadViewProps) {
  const { t } = useTranslation("chat");
  const messages = useChat((state) => (state.threads[threadKey] ?? emptyThread).messages);
  const load = useChat((state) => (state.threads[threadKey] ?? emptyThread).load);
  const liveKey = useChat((state) => {
    const live = state.threads[threadKey]?.live;
    return live ? (live.generationId ?? "sending") : undefined;
  });
  const { container, atEnd, onScroll, keepUp, goToEnd } = useFollowing();
  const entries: Entry[] = messages.map((message) => ({ key: message.id, message }));
  // Under the key that its message will have: the same answer, before and after its end.
  if (liveKey !== undefined) entries.push({ key: liveKey, message: null });
  const drawn = useGrowingCount(entries.length);
  const questions = messages.filter((message) => message.role === "user").length;

  // One's own prompt is always worth going to.
  useLayoutEffect(() => {
    if (questions > 0) goToEnd();
  }, [goToEnd, questions]);
  // A finished answer only for those who followed it.
  useLayoutEffect(() => {
    if (messages.length > 0) keepUp();
  }, [keepUp, messages]);

  useEffect(() => {
    const element = container.current;
    if (!element) return;
    // Its own size changes with the keyboard, its content's with every answer that is laid out late.
    const observer = new ResizeObserver(keepUp);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [container, keepUp]);

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
              {group.entries.map(({ key, message }) =>
                message?.role === "user" ? (
                  <Question key={key} content={message.content} />
                ) : (
                  <Answer key={key} threadKey={threadKey} message={message} onRetry={onRetry} />
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
