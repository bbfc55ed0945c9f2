import { useEffect, useRef } from "react";
import { Link } from "wouter";
import styles from "./tab-links.module.css";

interface TabLinksProps {
  label: string;
  tabs: readonly { address: string; label: string; isCurrent: boolean }[];
}

/** Pages of one thing, as tabs that are links. Where they are wider than the screen, the current one is scrolled into view. */
export function TabLinks({ label, tabs }: TabLinksProps) {
  const nav = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.address;
  useEffect(() => {
    const list = nav.current;
    const tab = current === undefined ? null : list?.querySelector<HTMLElement>("[aria-current]");
    if (list && tab) list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={nav} aria-label={label} className={styles.tabs}>
      {tabs.map(({ address, label: name, isCurrent }) => (
        <Link key={address} href={address} className={styles.tab} aria-current={isCurrent ? "page" : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
