/** The numbers in an answer's text that lead to the cards of its sources. */
import type { MouseEvent, ReactNode } from "react";
import { createElement, Fragment } from "react";
import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import type { Source } from "#contract/generations/generations.ts";
import styles from "./markdown.module.css";
import { safeHref } from "./markdown-blocks.ts";

interface MarkedSource {
  /** The id of its card. */
  id: string;
  mark: number;
  title: string;
}

/** `answer`: the prefix of the ids of this answer's cards. */
export const cardId = (answer: string, mark: number) => `${answer}source-${mark}`;

function marksOf(sources: readonly Source[], answer: string): ReadonlyMap<number, MarkedSource> {
  return new Map(
    sources.flatMap(({ mark, url, title }): [number, MarkedSource][] => {
      const href = safeHref(url);
      return mark === null || href === undefined ? [] : [[mark, { id: cardId(answer, mark), mark, title: title ?? new URL(href).host }]];
    }),
  );
}

/** Focuses the source's card. The fragment does not go into the address, which belongs to the conversation. */
function goTo(event: MouseEvent, id: string): void {
  const card = document.getElementById(id);
  if (!card || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  card.focus();
  card.scrollIntoView({ block: "nearest" });
}

function Mark({ source: { id, mark, title } }: { source: MarkedSource }) {
  const { t } = useTranslation("chat");
  const number = useFormat().number(mark);
  return (
    <a href={`#${id}`} className={styles.mark} aria-label={t("answer.source", { number, title })} onClick={(event) => goTo(event, id)}>
      [{number}]
    </a>
  );
}

/** For TextMarks: in a text the numbers of the sources are links. A number that is no source's stays as it is. */
export function marker(sources: readonly Source[], answer: string): (text: string) => ReactNode {
  const marked = marksOf(sources, answer);
  return (text) => {
    const parts = text.split(/(\[\d{1,4}\])/).map((part) => {
      const source = /^\[\d+\]$/.test(part) ? marked.get(Number(part.slice(1, -1))) : undefined;
      return source ? createElement(Mark, { source }) : part;
    });
    return createElement(Fragment, null, ...parts);
  };
}
