import type { ReactNode } from "react";
import { Link } from "wouter";
import { classNames } from "./class-names.ts";
import styles from "./link-item.module.css";

/** A list item that is clickable as a whole. Screen readers read only the name of its `ItemLink`. */
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
