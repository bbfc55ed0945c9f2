import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { SectionLinks } from "#client/components/section-links.tsx";
import type { TeamRole } from "#domain/team.ts";
import styles from "./admin-frame.module.css";
import { Copied } from "./copied.tsx";
import { Find } from "./find.tsx";
import { listAddress } from "./list-addresses.ts";
import { useCountedNeeds } from "./needs-store.ts";
import type { SectionName } from "./sections.ts";
import { sectionPath, sectionsOf } from "./sections.ts";
import { useWaiting } from "./use-waiting.ts";

interface AdminFrameProps {
  role: TeamRole;
  current: SectionName;
  children: ReactNode;
}

/** The sections at the side, and the open one. */
export function AdminFrame({ role, current, children }: AdminFrameProps) {
  const { t } = useTranslation("admin");
  useCountedNeeds(role === "admin");
  const waiting = useWaiting();
  return (
    <div className={styles.frame}>
      <div className={styles.navigation}>
        <Find role={role} />
        <SectionLinks
          as="column"
          label={t("sections.label")}
          opener={t(`sections.${current}`)}
          sections={sectionsOf(role).map((name) => ({
            ...{ name, href: sectionPath(name), label: t(`sections.${name}`) },
            count: name === "needs" ? waiting : undefined,
          }))}
          current={current}
        />
        <p className={styles.role}>{t(`role.${role}`)}</p>
      </div>
      <div className={styles.content}>{children}</div>
    </div>
  );
}

/** Leads from one row back to its list, with the filters, order and page that the list had. */
export function BackLink({ to }: { to: SectionName }) {
  const { t } = useTranslation("admin");
  return (
    <Link href={listAddress(sectionPath(to))} className={styles.back}>
      <ArrowLeft size={14} aria-hidden="true" />
      {t(`sections.${to}`)}
    </Link>
  );
}

interface AdminHeadProps {
  title: ReactNode;
  lead?: string;
  address?: string;
  /** True if the control that led here is gone, and the focus with it. */
  takesFocus?: boolean;
  children?: ReactNode;
}

/** The head of a section. After a change of section it takes the focus, as a new page's does. */
export function AdminHead({ title, lead, address, takesFocus = false, children }: AdminHeadProps) {
  const { t } = useTranslation("admin");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus || document.activeElement?.closest("nav")) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <header className={styles.head}>
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {lead && <p className={styles.lead}>{lead}</p>}
        {address !== undefined && (
          <p className={styles.lead}>
            <Copied what={t("people.email")} value={address} />
          </p>
        )}
      </div>
      {children && <div className={styles.actions}>{children}</div>}
    </header>
  );
}
