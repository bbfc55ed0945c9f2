import type { ReactNode } from "react";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { LinkButton } from "#client/components/button.tsx";
import type { Needs } from "#contract/admin/needs.ts";
import type { NeedKind } from "#domain/needs.ts";
import styles from "./person.module.css";
import type { Need } from "./put-off.tsx";
import { PutOffButton, PutOffNote } from "./put-off.tsx";
import { sectionPath } from "./sections.ts";

/** An act that asks for a reason first. */
export interface Asked {
  title: string;
  /** What happens. */
  text?: string;
  /** Returns the message to show afterwards; undefined if the page itself shows the result. */
  act: (reason: string) => Promise<ReactNode>;
  /** Other words for a refusal than its usual ones. */
  wordsOf?: (error: unknown) => string | undefined;
}

/** For an act after which there is nothing to say. */
export const inSilence = (act: (reason: string) => Promise<unknown>) => async (reason: string) => {
  await act(reason);
  return undefined;
};

export type BlockProps = { needs: Needs; ask: (asked: Asked) => void };

/** A link to the person whom an entry is about. */
export function Person({ userId, email }: { userId: string | null; email: string | null }) {
  return userId === null ? null : <Link href={`${sectionPath("people")}/${userId}`}>{email}</Link>;
}

/** A button to the person's page, where the team can act for them. */
export function OpenPerson({ userId }: { userId: string | null }) {
  const { t } = useTranslation("admin");
  return userId === null ? null : (
    <LinkButton size="small" href={`${sectionPath("people")}/${userId}`}>
      {t("needs.open")}
    </LinkButton>
  );
}

interface RowProps {
  need: Need;
  what: ReactNode;
  /** What to do about it, or since when it waits. */
  detail: ReactNode;
  children?: ReactNode;
}

/** Something that waits for somebody. */
export function Row({ need, what, detail, children }: RowProps) {
  const name = useId();
  return (
    <li className={styles.row}>
      <div>
        <p id={name}>{what}</p>
        <p className={styles.soft}>{detail}</p>
        <PutOffNote need={need} />
      </div>
      <div className={styles.acts}>
        {children}
        <PutOffButton need={need} describedBy={name} />
      </div>
    </li>
  );
}

interface BlockOfProps {
  name: NeedKind;
  count: number;
  isMore: boolean;
  children: ReactNode;
}

/** All entries of one kind. Renders nothing if there are none. */
export function Block({ name, count, isMore, children }: BlockOfProps) {
  const { t } = useTranslation("admin");
  if (count === 0) return null;
  return (
    <section className={styles.block} aria-labelledby={name}>
      <h2 id={name}>
        {t(`needs.${name}`)} <span className={styles.soft}>{isMore ? `${count}+` : count}</span>
      </h2>
      <ul className={styles.rows}>{children}</ul>
    </section>
  );
}
