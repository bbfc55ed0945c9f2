/** What somebody of the team has closed, each with the button that opens it again. */
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { ClosedFindings as Closed } from "#contract/admin/needs.ts";
import { ActDialog } from "./act-dialog.tsx";
import { OpenPerson, Person } from "./needs-block.tsx";
import { useFindingText } from "./needs-findings.tsx";
import { useNeeds } from "./needs-store.ts";
import styles from "./person.module.css";
import { useFocusAfterAct } from "./use-focus-after-act.ts";

type Finding = Closed["rows"][number];

function ClosedRow({ finding, reopen }: { finding: Finding; reopen: () => void }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const { whatOf } = useFindingText();
  const { id, kind, subject, closedAt, by, reason, userId, email } = finding;
  const said = { time: dateTime(closedAt), reason: reason ?? "" };
  return (
    <li className={styles.row}>
      <div>
        <p id={`closed-${id}`}>
          {whatOf(kind)}: {subject} <Person userId={userId} email={email} />
        </p>
        <p className={styles.soft}>{by === null ? t("needs.closed.saidOnly", said) : t("needs.closed.said", { ...said, by })}</p>
      </div>
      <div className={styles.acts}>
        <Button size="small" aria-describedby={`closed-${id}`} onClick={reopen}>
          {t("needs.closed.reopen")}
        </Button>
        <OpenPerson userId={userId} />
      </div>
    </li>
  );
}

interface RowsProps {
  closed: Closed;
  ask: (finding: Finding) => void;
}

function Rows({ closed: { rows, isMore }, ask }: RowsProps) {
  const { t } = useTranslation("admin");
  if (rows.length === 0) return <EmptyState title={t("needs.closed.nothing")}>{t("needs.closed.nothingText")}</EmptyState>;
  return (
    <section className={styles.block} aria-labelledby="closed">
      <h2 id="closed">
        {t("needs.closed.title")} <span className={styles.soft}>{isMore ? `${rows.length}+` : rows.length}</span>
      </h2>
      <ul className={styles.rows}>
        {rows.map((finding) => (
          <ClosedRow key={finding.id} finding={finding} reopen={() => ask(finding)} />
        ))}
      </ul>
    </section>
  );
}

export function ClosedFindings() {
  const { t } = useTranslation(["admin", "common"]);
  const [closed, setClosed] = useState<Closed | "failed">();
  const [asked, setAsked] = useState<Finding>();
  const look = useCallback(() => {
    api("GET /api/admin/findings/closed").then(setClosed, () => setClosed("failed"));
  }, []);
  useEffect(look, [look]);
  const noteAct = useFocusAfterAct(closed);
  const lookEverywhere = () => {
    look();
    // The navigation counts what waits.
    useNeeds.getState().look();
  };
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  if (closed === undefined) return <Spinner label={t("admin:table.reading")} />;
  if (closed === "failed")
    return (
      <Alert tone="warning" action={again}>
        {t("admin:table.failed")}
      </Alert>
    );
  return (
    <>
      <Rows closed={closed} ask={setAsked} />
      {asked && (
        <ActDialog
          title={t("admin:needs.closed.reopen")}
          action={t("admin:needs.closed.reopen")}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            lookEverywhere();
            noteAct();
          }}
          look={lookEverywhere}
          act={(reason) => api("POST /api/admin/findings/reopen", { body: { findingId: asked.id, reason } })}
        >
          <p>{t("admin:needs.closed.text")}</p>
        </ActDialog>
      )}
    </>
  );
}
