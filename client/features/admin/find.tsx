import { UserSearch } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation } from "wouter";
import { Dialog } from "#client/components/dialog.tsx";
import type { TeamRole } from "#domain/team.ts";
import styles from "./find.module.css";
import { isTyping } from "./is-typing.ts";
import { PersonBadges } from "./person-badges.tsx";
import { sectionPath, sectionsOf } from "./sections.ts";
import { useFound } from "./use-found.ts";

/** `/`, and Ctrl+K or ⌘K also while something is typed. Not above an open dialog. */
function useFindKey(open: () => void): void {
  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent): void {
      const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
      if (!(isK || isSlash) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      open();
    }
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open]);
}

/** Up and down between the field and the links below it. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || event.nativeEvent.isComposing) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
  const next = stops[stops.indexOf(event.target as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

const focusFirst = (field: HTMLInputElement | null) => field?.setAttribute("autofocus", "");

interface Place {
  href: string;
  label: string;
}

/** What is not a person: an event of Stripe's by its id, sections by their names. */
function usePlaces(text: string, role: TeamRole): Place[] {
  const { t } = useTranslation("admin");
  const sections = sectionsOf(role);
  if (text === "") return [];
  if (/^evt_\w+$/.test(text))
    return sections.includes("work") ? [{ href: `${sectionPath("work")}/events?event=${text}`, label: t("find.event", { id: text }) }] : [];
  return sections
    .map((name) => ({ href: sectionPath(name), label: t(`sections.${name}`) }))
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}

function Results({ typed, role, onOpen }: { typed: string; role: TeamRole; onOpen: () => void }) {
  const { t } = useTranslation("admin");
  const text = typed.trim();
  const { status, people, isMore } = useFound(text);
  const places = usePlaces(text, role);
  return (
    <>
      <ul className={styles.found} aria-busy={status === "reading"}>
        {people.map((person) => (
          <li key={person.id}>
            <Link href={`${sectionPath("people")}/${person.id}`} className={styles.item} onClick={onOpen}>
              <span className={styles.who}>
                {person.email}
                {person.name !== null && <span className={styles.name}>{person.name}</span>}
              </span>
              <PersonBadges person={person} />
            </Link>
          </li>
        ))}
        {isMore && (
          <li>
            <Link href={`${sectionPath("people")}?${new URLSearchParams({ search: text })}`} className={styles.item} onClick={onOpen}>
              {t("find.all")}
            </Link>
          </li>
        )}
        {places.map(({ href, label }) => (
          <li key={href}>
            <Link href={href} className={styles.item} onClick={onOpen}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
      <p className={styles.note} role="status">
        {status === "failed" && t("table.failed")}
        {status === "found" && people.length === 0 && places.length === 0 && t("find.nobody")}
        {(people.length > 0 || places.length > 0) && <span className={styles.keys}>{t("find.keys")}</span>}
      </p>
    </>
  );
}

function Form({ role, onClose }: { role: TeamRole; onClose: () => void }) {
  const { t } = useTranslation("admin");
  const [typed, setTyped] = useState("");
  const [, go] = useLocation();

  /** On Enter, opens the first result, unless the results are still being read. */
  function openFirst(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    const list = event.currentTarget.parentElement?.querySelector("ul");
    const first = list?.getAttribute("aria-busy") === "true" ? null : list?.querySelector("a");
    if (!first) return;
    onClose();
    go(first.pathname + first.search);
  }

  return (
    <form className={styles.form} onSubmit={(event) => event.preventDefault()} onKeyDown={moveFocus}>
      <input
        // Read by the dialog when it opens; React's own property would give the focus before that.
        ref={focusFirst}
        type="search"
        aria-label={t("people.search")}
        className={styles.field}
        placeholder={t("people.search")}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={openFirst}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        maxLength={254}
      />
      <Results typed={typed} role={role} onOpen={onClose} />
    </form>
  );
}

/** The search that leads from anywhere in the panel to a person, by whatever is known about them. */
export function Find({ role }: { role: TeamRole }) {
  const { t } = useTranslation("admin");
  const [isOpen, setOpen] = useState(false);
  const open = useCallback(() => setOpen(true), []);
  useFindKey(open);
  return (
    <>
      <button type="button" className={styles.opener} aria-keyshortcuts="/ Control+K Meta+K" onClick={open}>
        <UserSearch size={16} aria-hidden="true" />
        <span className={styles.words}>{t("find.title")}</span>
        <span className={styles.key} aria-hidden="true">
          /
        </span>
      </button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title={t("find.title")}>
        <Form role={role} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}
