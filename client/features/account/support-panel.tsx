import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { RichText } from "#client/components/rich-text.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { useAct } from "#client/components/use-act.ts";
import { securityPath } from "#client/lib/security-path.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { supportAccessDays } from "#domain/support-access.ts";
import styles from "./account.module.css";
import { Reading } from "./reading.tsx";
import { useSupportAccess } from "./use-support-access.ts";

const [shortest] = supportAccessDays;

/** The person lets the team read their conversations for a while, and takes that back. */
export function SupportPanel() {
  const { t, i18n } = useTranslation(["access", "errors", "refusals"]);
  const { dateTime } = useFormat();
  const { state, look, give, end } = useSupportAccess();
  const { note, waitSeconds, busy, run } = useAct<"give" | "end">();
  const [days, setDays] = useState(String(shortest));
  const long = new Intl.NumberFormat(i18n.language, { style: "unit", unit: "day", unitDisplay: "long" });
  const chosen = supportAccessDays.find((each) => String(each) === days) ?? shortest;

  const endButton = (label: string) => (
    <Button busy={busy === "end"} busyLabel={t("access:ending")} aria-disabled={waitSeconds > 0} onClick={() => void run("end", end)}>
      {label}
    </Button>
  );
  return (
    <Panel name="support" title={t("access:title")}>
      <p>{t("access:text")}</p>
      <ul className={styles.points}>
        <li>{t("access:sees")}</li>
        <li>{t("access:hidden")}</li>
        <li>
          <RichText text={t("access:log")} elements={{ activity: <Link href={`${securityPath}#activity`} /> }} />
        </li>
      </ul>
      <Reading state={state} look={look} label={t("access:title")} rows={1} failed={t("access:loadFailed")}>
        {({ until, askedAt }) => (
          <>
            {askedAt !== null && <Alert>{t("access:asked")}</Alert>}
            {until !== null && <Alert tone="good">{t("access:running", { time: dateTime(until) })}</Alert>}
            {note}
            {until === null && (
              <Segmented
                label={t("access:howLong")}
                options={supportAccessDays.map((count) => ({ value: String(count), label: long.format(count) }))}
                value={days}
                onChange={setDays}
              />
            )}
            <div className={styles.actions}>
              {until === null && (
                <Button
                  variant="primary"
                  busy={busy === "give"}
                  busyLabel={t("access:giving")}
                  aria-disabled={waitSeconds > 0}
                  onClick={() => void run("give", () => give(chosen))}
                >
                  {t("access:give")}
                </Button>
              )}
              {until !== null && endButton(t("access:end"))}
              {until === null && askedAt !== null && endButton(t("access:refuse"))}
            </div>
          </>
        )}
      </Reading>
    </Panel>
  );
}
