import { ChevronDown, ChevronUp } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation, useSearchParams } from "wouter";
import { Button } from "#client/components/button.tsx";
import { api, isAbort } from "#client/lib/api.ts";
import type { InboxPage, InboxQuery, InboxNeighbours as Known } from "#contract/admin/inbox.ts";
import { BackLink } from "./admin-frame.tsx";
import styles from "./inbox.module.css";
import { isTyping } from "./is-typing.ts";
import { sectionPath } from "./sections.ts";
import { queryOf } from "./use-table.ts";

/** The names of the list's filters. */
const filters = ["sender", "status", "category", "owner", "language"];

/** A message's address holds the filters of the list it was opened from, so that "next" follows that list, also after a reload. */
export function messagePath(id: string, search: URLSearchParams): string {
  const { cursor: _page, ...list } = queryOf(search, filters);
  const query = String(new URLSearchParams(Object.entries(list).filter((pair): pair is [string, string] => pair[1] !== undefined)));
  return `${sectionPath("inbox")}/${id}${query && `?${query}`}`;
}

const fromNeighbour = { isNeighbour: true };

/** Whether the page was opened from the message above or below it. The link that led here is gone then, and the focus with it. */
export function isFromNeighbour(): boolean {
  return (history.state as Partial<typeof fromNeighbour> | null)?.isNeighbour === true;
}

export interface Neighbours {
  /** Undefined while they are not known. */
  known: Known | undefined;
  pathOf: (id: string) => string;
  go: (id: string) => void;
}

/** The messages above and below this one in the list that it was opened from. They are read again after each act. */
export function useNeighbours({ id: messageId, version }: Pick<InboxPage, "id" | "version">): Neighbours {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [known, setKnown] = useState<Known>();
  // The version changes with each act, after which the list may be another.
  const key = JSON.stringify([messageId, queryOf(search, filters), version]);
  useEffect(() => {
    const abort = new AbortController();
    const [id, { cursor: _page, ...querystring }] = JSON.parse(key) as [string, InboxQuery, number];
    api("GET /api/admin/inbox/:messageId/neighbours", { params: { messageId: id }, querystring, signal: abort.signal }).then(
      setKnown,
      // If they can't be read, the link back to the list still works.
      (error: unknown) => isAbort(error) || setKnown({ previous: null, next: null }),
    );
    return () => abort.abort();
  }, [key]);
  const pathOf = (id: string) => messagePath(id, search);
  return { known, pathOf, go: (id) => navigate(pathOf(id), { state: fromNeighbour }) };
}

/** J goes down the list and K up, unless somebody is typing or looks at a dialog. */
function useKeys({ known, go }: Neighbours): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      const neighbour = { j: known?.next, k: known?.previous }[event.key.toLowerCase()];
      if (!neighbour) return;
      event.preventDefault();
      go(neighbour.id);
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
}

function Step({
  to,
  shortcut,
  pathOf,
  children,
}: { to: Known["next"]; shortcut: string; children: ReactNode } & Pick<Neighbours, "pathOf">) {
  const key = (
    <span className={styles.key} aria-hidden="true">
      {shortcut}
    </span>
  );
  if (!to)
    return (
      <span className={styles.neighbour} aria-disabled="true">
        {children} {key}
      </span>
    );
  return (
    <Link href={pathOf(to.id)} state={fromNeighbour} className={styles.neighbour} title={to.title} aria-keyshortcuts={shortcut}>
      {children} {key}
    </Link>
  );
}

/** To the message above or below, in the order of the list. */
export function InboxNeighbours({ neighbours }: { neighbours: Neighbours }) {
  const { t } = useTranslation("inbox");
  const { known, pathOf } = neighbours;
  useKeys(neighbours);
  return (
    <div className={styles.neighbours}>
      <Step to={known?.previous ?? null} shortcut="K" pathOf={pathOf}>
        <ChevronUp size={16} aria-hidden="true" />
        {t("neighbours.previous")}
      </Step>
      <Step to={known?.next ?? null} shortcut="J" pathOf={pathOf}>
        <ChevronDown size={16} aria-hidden="true" />
        {t("neighbours.next")}
      </Step>
    </div>
  );
}

/** After a message was answered or closed: what one would do next. */
export function NextMessage({ neighbours: { known, go } }: { neighbours: Neighbours }) {
  const { t } = useTranslation("inbox");
  const next = known?.next;
  return (
    <div className={styles.next} role="status">
      {next && (
        <>
          <p>{t("neighbours.offer", { title: next.title })}</p>
          <Button size="small" onClick={() => go(next.id)}>
            {t("neighbours.open")}
          </Button>
        </>
      )}
      {known && !next && (
        <>
          <p>{t("neighbours.last")}</p>
          <BackLink to="inbox" />
        </>
      )}
    </div>
  );
}
