import type { ReactNode } from "react";
import { useContext, useEffect, useRef } from "react";
import { fragmentId } from "#client/lib/fragment.ts";
import { classNames } from "./class-names.ts";
import styles from "./page.module.css";
import type { PageHead } from "./page-head.ts";
import { applyPageHead, PageHeadContext } from "./page-head.ts";

let arrivedByLink = false;
let arrivedByHistory = false;
let arrivedAt: string | undefined;
if (typeof window !== "undefined") {
  // A leap to a section of the same page is told as history too, but nobody has gone back with it.
  addEventListener("popstate", () => (arrivedByHistory = location.pathname !== arrivedAt));
}

/** Brings the reader to the new page: its heading takes the focus, and the top of it is in sight unless one went back. */
function arrive(heading: HTMLElement | null): void {
  if (location.hash) document.getElementById(fragmentId(location.hash))?.scrollIntoView();
  else if (arrivedByLink && !arrivedByHistory) scrollTo(0, 0);
  if (arrivedByLink && heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  arrivedByLink = true;
  arrivedByHistory = false;
  arrivedAt = location.pathname;
}

interface PageProps extends PageHead {
  /** `wide` gives the whole page width to its sections; `bare` leaves width and padding to the page. */
  width?: "narrow" | "wide" | "bare";
  className?: string;
  children: ReactNode;
}

/** What every page is wrapped in: the document's head, and the focus on its first heading after a change of route. */
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
