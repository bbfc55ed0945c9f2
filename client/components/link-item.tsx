import type { ReactNode } from "react";
import { Link } from "wouter";
import { classNames } from "./class-names.ts";
import styles from "./link-item.module.css";

/** An item of a list that leads somewhere: its whole area is that of its `ItemLink`, whose name alone is read out. */
export function LinkItem({ className, children }: { className?: string | undefined; children: ReactNode }) {
  return <li className={classNames(styles.item, className)}>{children}</li>;
}

interface ItemLinkProps {
  href: string;
  lang?: string | undefined;
  children: ReactNode;
}

/** The one link of a `LinkItem`. */
export function ItemLink({ href, lang, children }: ItemLinkProps) {
  return (
    <Link href={href} lang={lang} className={styles.link}>
      {children}
    </Link>
  );
}
