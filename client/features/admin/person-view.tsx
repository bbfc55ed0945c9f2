import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { TeamRole } from "#domain/team.ts";
import { AdminHead, BackLink } from "./admin-frame.tsx";
import styles from "./person.module.css";
import { PersonActs } from "./person-acts.tsx";
import { AnswersTab } from "./person-answers.tsx";
import { PersonBadges } from "./person-badges.tsx";
import { InvoicesTab } from "./person-invoices.tsx";
import { AuditTab, LedgerTab } from "./person-lists.tsx";
import { MailsTab } from "./person-mails.tsx";
import { PersonOverview } from "./person-overview.tsx";
import { sectionPath } from "./sections.ts";
import { TabLinks } from "./tab-links.tsx";

const tabs = ["overview", "ledger", "invoices", "answers", "mails", "audit"] as const;
type Tab = (typeof tabs)[number];

type State = { status: "loading" | "missing" | "failed" } | { status: "known"; page: PersonPage; reads: number };

function usePerson(userId: string): { state: State; look: () => void } {
  const [state, setState] = useState<State>({ status: "loading" });
  const look = useCallback(() => {
    api("GET /api/admin/people/:userId", { params: { userId } }).then(
      (page) => setState((before) => ({ status: "known", page, reads: before.status === "known" ? before.reads + 1 : 0 })),
      (error: unknown) => {
        const isMissing = error instanceof ApiProblem && (error.status === 404 || error.status === 400);
        setState({ status: isMissing ? "missing" : "failed" });
      },
    );
  }, [userId]);
  useEffect(look, [look]);
  return { state, look };
}

function PersonTabs({ page: { person, money }, current }: { page: PersonPage; current: Tab }) {
  const { t } = useTranslation(["admin", "invoices"]);
  const base = `${sectionPath("people")}/${person.id}`;
  const links = tabs
    .filter((tab) => tab !== "invoices" || money !== null)
    .map((tab) => ({
      address: tab === "overview" ? base : `${base}/${tab}`,
      label: tab === "invoices" ? t("invoices:title") : t(`admin:person.tabs.${tab}`),
      isCurrent: tab === current,
    }));
  return <TabLinks label={t("admin:person.tabs.label")} tabs={links} />;
}

interface KnownProps {
  page: PersonPage;
  /** How often it was read again. The lists are then read again, too. */
  reads: number;
  role: TeamRole;
  tab: Tab;
  look: () => void;
}

function Known({ page, reads, role, tab, look }: KnownProps) {
  const { person, money } = page;
  return (
    <>
      <AdminHead
        title={
          <span className={styles.who}>
            {person.name ?? person.email} <PersonBadges person={person} />
          </span>
        }
        {...(person.name !== null && { address: person.email })}
      />
      {role === "admin" && <PersonActs page={page} onDone={look} />}
      <PersonTabs page={page} current={tab} />
      {tab === "overview" && <PersonOverview page={page} onDone={look} />}
      {tab === "ledger" && <LedgerTab key={reads} userId={person.id} />}
      {tab === "invoices" && money !== null && <InvoicesTab page={{ ...page, money }} reads={reads} look={look} />}
      {tab === "answers" && <AnswersTab page={page} look={look} />}
      {tab === "mails" && <MailsTab key={reads} person={person} role={role} />}
      {tab === "audit" && <AuditTab key={reads} email={person.email} />}
    </>
  );
}

/** One person on one page: what they have, what happened, and what can be done for them. */
export function PersonView({ userId, role, tab: asked }: { userId: string; role: TeamRole; tab: string | undefined }) {
  const { t } = useTranslation(["admin", "common"]);
  const { state, look } = usePerson(userId);
  const tab = tabs.find((each) => each === asked) ?? "overview";
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  return (
    <>
      <BackLink to="people" />
      {state.status === "loading" && <Spinner label={t("admin:table.reading")} />}
      {state.status === "missing" && <EmptyState title={t("admin:person.missing")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("admin:table.failed")}
        </Alert>
      )}
      {state.status === "known" && <Known page={state.page} reads={state.reads} role={role} tab={tab} look={look} />}
    </>
  );
}
