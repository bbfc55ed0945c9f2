import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Panel } from "#client/components/panel.tsx";
import { useAct } from "#client/components/use-act.ts";
import { useRepairText } from "#client/components/use-repair-text.ts";
import { api } from "#client/lib/api.ts";
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import styles from "./doctor.module.css";

function Result({ check: { complete, items } }: { check: PaymentCheck }) {
  const { t } = useTranslation("doctor");
  const textOf = useRepairText();
  const mended = items.filter(({ kind }) => kind !== "left");
  const left = items.find(({ kind }) => kind === "left");
  return (
    <>
      {mended.length > 0 && (
        <Alert tone="good" title={t("mended")}>
          <ul className={styles.items}>
            {mended.map((item) => (
              <li key={JSON.stringify(item)}>{textOf(item)}</li>
            ))}
          </ul>
        </Alert>
      )}
      {left && <Alert tone="info">{textOf(left)}</Alert>}
      {!complete && <Alert tone="warning">{t("incomplete")}</Alert>}
      {complete && items.length === 0 && <Alert tone="good">{t("right")}</Alert>}
    </>
  );
}

/** Checks the person's payments on demand, repairs what was wrong and says so. The server tells the other open pages about the repair. */
export function DoctorPanel() {
  const { t } = useTranslation(["doctor", "errors", "refusals"]);
  const { note, waitSeconds, busy, run } = useAct();
  const [check, setCheck] = useState<PaymentCheck>();

  async function ask(): Promise<void> {
    setCheck(undefined);
    setCheck(await api("POST /api/billing/doctor"));
  }

  return (
    <Panel name="doctor" title={t("doctor:title")} lead={[t("doctor:lead")]}>
      {check && <Result check={check} />}
      {note}
      <div>
        <Button
          busy={busy !== undefined}
          busyLabel={t("doctor:checking")}
          aria-disabled={waitSeconds > 0}
          onClick={() => void run("check", ask)}
        >
          {t(check ? "doctor:again" : "doctor:check")}
        </Button>
      </div>
    </Panel>
  );
}
