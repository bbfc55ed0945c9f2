import type { ReactNode } from "react";
import { useContext, useEffect, useRef } from "react";
import { fragmentId } from "#client/lib/fragment.ts";
import { hasSlept } from "#client/lib/sleep.ts";
import { classNames } from "./class-names.ts";
import styles from "./page.module.css";
import type { PageHead } from "./page-head.ts";
import { applyPageHead, PageHeadContext } from "./page-head.ts";

let isFirst = true;
let arrivedByHistory = false;
/** Read at the start, because the visitor may leave the first page before it is hydrated. */
let arrivedAt = typeof window === "undefined" ? undefined : location.pathname;
if (typeof window !== "undefined") {
  // A jump to a section of the same page fires popstate too, but is not going back.
  addEventListener("popstate", () => (arrivedByHistory = location.pathname !== arrivedAt));
}

/** Called on a new page: focuses its heading, and scrolls to the top unless the reader went back. */
function arrive(heading: HTMLElement | null): void {
  const arrivedByLink = !isFirst || location.pathname !== arrivedAt;
  // On a page that slept, the browser itself jumped to the section, and the reader may have scrolled on since then.
  if (location.hash && (arrivedByLink || !hasSlept())) document.getElementById(fragmentId(location.hash))?.scrollIntoView();
  else if (arrivedByLink && !arrivedByHistory) scrollTo(0, 0);
  if (arrivedByLink && heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  isFirst = false;
  arrivedByHistory = false;
  arrivedAt = location.pathname;
}

interface PageProps extends PageHead {
  /** `wide` lets sections use the whole page width; `bare` leaves width and padding to the page. */
  width?: "narrow" | "wide" | "bare";
  className?: string;
  children: ReactNode;
}

/** Wraps every page: sets the document's head, and focuses the first heading after a change of route. */
export function Page({ title, description, structuredData, indexable, width = "wide", className, children }: PageProps) {
  const page = useRef<HTMLDivElement>(null);
  const collectHead = useContext(PageHeadContext);
  collectHead?.({ title, description, structuredData, indexable });

  useEffect(() => applyPageHead({ title, description, indexable }), [title, description, indexable]);

  useEffect(() => arrive(page.current?.querySelector("h1") ?? null), []);

  return (
    <div ref={page} className={classNames(styles[width], className)}>
      {children}
    </div>
  );
}
