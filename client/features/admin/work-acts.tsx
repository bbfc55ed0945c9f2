/** What the team did to an event or to a failed job. */
import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { LetterRow, WorkAct } from "#contract/admin/work.ts";
import styles from "./person.module.css";

/** The latest first. */
export function Acts({ acts }: { acts: readonly WorkAct[] }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  if (acts.length === 0) return null;
  return (
    <ul aria-label={t("work.acts")} className={styles.rows}>
      {acts.map(({ at, act, by, reason }) => (
        <li key={at} className={styles.row}>
          <span>
            {t(act === "discarded" ? "work.states.discarded" : "work.states.replayed")}: {reason}{" "}
            <span className={styles.soft}>
              {by ?? t("audit.nobody")}, {dateTime(at)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What can be done with these failed jobs. If one of them was discarded already, they can't be discarded, only run again. */
export const actsOn = (letters: readonly Pick<LetterRow, "state">[]): ("replay" | "discard")[] =>
  letters.some(({ state }) => state === "discarded") ? ["replay"] : ["replay", "discard"];

/** Where a failed job stands, and since when. */
export function LetterState({ letter: { state, settledAt } }: { letter: Pick<LetterRow, "state" | "settledAt"> }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  return `${t(`work.states.${state}`)}${settledAt === null ? "" : `, ${dateTime(settledAt)}`}`;
}

/** What the team did to a failed job. It is read for a waiting job too, which may have been run again and have failed again. */
export function LetterActs({ letterId }: { letterId: string }) {
  const { t } = useTranslation(["admin", "common"]);
  const [acts, setActs] = useState<readonly WorkAct[] | "failed">();
  const look = useCallback(() => {
    setActs(undefined);
    api("GET /api/admin/dead-letters/:letterId", { params: { letterId } }).then(
      (answer) => setActs(answer.acts),
      () => setActs("failed"),
    );
  }, [letterId]);
  useEffect(look, [look]);
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  if (acts === undefined) return <Spinner label={t("admin:table.reading")} />;
  if (acts === "failed")
    return (
      <Alert tone="warning" action={again}>
        {t("admin:table.failed")}
      </Alert>
    );
  return <Acts acts={acts} />;
}
