import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { classNames } from "./class-names.ts";
import styles from "./page.module.css";

let arrivedByLink = false;
let arrivedByHistory = false;
if (typeof window !== "undefined") addEventListener("popstate", () => (arrivedByHistory = true));

/** Brings the reader to the new page: its heading takes the focus, and the top of it is in sight unless one went back. */
function arrive(heading: HTMLElement | null): void {
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  else if (arrivedByLink && !arrivedByHistory) scrollTo(0, 0);
  if (arrivedByLink && heading) {
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  arrivedByLink = true;
  arrivedByHistory = false;
}

interface PageProps {
  /** Of the document, without the product's name. Undefined on the home page, which bears the name alone. */
  title?: string;
  /** `wide` gives the whole page width to its sections; `bare` leaves width and padding to the page. */
  width?: "narrow" | "wide" | "bare";
  className?: string;
  children: ReactNode;
}

/** What every page is wrapped in: the document's title, and the focus on its first heading after a change of route. */
export function Page({ title, width = "wide", className, children }: PageProps) {
  const page = useRef<HTMLDivElement>(null);

  useEffect(() => {
    document.title = title ? `${title} · Tessera` : "Tessera";
  }, [title]);

  useEffect(() => arrive(page.current?.querySelector("h1") ?? null), []);

  return (
    <div ref={page} className={classNames(styles[width], className)}>
      {children}
    </div>
  );
}
