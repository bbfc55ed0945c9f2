import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Select, TextField } from "#client/components/field.tsx";
import { Panel } from "#client/components/panel.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { useAct } from "#client/components/use-act.ts";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { SpendingLimits } from "#contract/credits/limits.ts";
import { alertPercents, spendingBounds } from "#domain/spending-limits.ts";
import styles from "./usage.module.css";
import { useLimits } from "./use-limits.ts";

const { lowestCap, lowestAsk, highest } = spendingBounds;

const written = (credits: number | null) => (credits === null ? "" : String(credits));

/** The number in a field, null if it is empty, and undefined if it is no number that the server takes. */
function parse(text: string, lowest: number): number | null | undefined {
  if (text.trim() === "") return null;
  const credits = Number(text);
  return Number.isInteger(credits) && credits >= lowest && credits <= highest ? credits : undefined;
}

type AlertPercent = SpendingLimits["alertPercent"];

/** At which share of the month's plan credits the person is told. */
function AlertField({ value, onChange }: { value: AlertPercent; onChange: (percent: AlertPercent) => void }) {
  const { t } = useTranslation("limits");
  const { percent } = useFormat();
  const shares = alertPercents.map((share) => ({ value: String(share), label: percent(share) }));
  return (
    <Select
      label={t("alert.label")}
      hint={t("alert.hint")}
      options={[{ value: "", label: t("alert.off") }, ...shares]}
      value={value ?? ""}
      onChange={({ target }) => onChange(alertPercents.find((share) => String(share) === target.value) ?? null)}
    />
  );
}

function LimitsForm({ limits, onSaved }: { limits: SpendingLimits; onSaved: (limits: SpendingLimits) => void }) {
  const { t } = useTranslation(["limits", "errors", "refusals"]);
  const { number } = useFormat();
  const { note, busy, run } = useAct();
  const [capText, setCapText] = useState(written(limits.dailyCapCredits));
  const [askText, setAskText] = useState(written(limits.askAboveCredits));
  const [alertPercent, setAlertPercent] = useState(limits.alertPercent);
  const [tried, setTried] = useState(false);
  const [saved, setSaved] = useState(false);
  const dailyCapCredits = parse(capText, lowestCap);
  const askAboveCredits = parse(askText, lowestAsk);
  const fault = (value: number | null | undefined, lowest: number) =>
    tried && value === undefined ? t("limits:invalid", { min: number(lowest), max: number(highest) }) : undefined;

  function change<Value>(set: (value: Value) => void, value: Value): void {
    set(value);
    setSaved(false);
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    setTried(true);
    if (dailyCapCredits === undefined || askAboveCredits === undefined) return;
    void run("save", async () => {
      onSaved(await api("PUT /api/credits/limits", { body: { dailyCapCredits, askAboveCredits, alertPercent } }));
      setSaved(true);
    });
  }

  return (
    <form className={styles.limits} onSubmit={submit} noValidate>
      <TextField
        label={t("limits:cap.label")}
        hint={t("limits:cap.hint")}
        error={fault(dailyCapCredits, lowestCap)}
        inputMode="numeric"
        autoComplete="off"
        value={capText}
        onChange={(event) => change(setCapText, event.target.value)}
      />
      {limits.dailyCapCredits !== null && limits.todayCredits !== null && (
        <p className={styles.today}>{t("limits:cap.used", { used: number(limits.todayCredits), cap: number(limits.dailyCapCredits) })}</p>
      )}
      <TextField
        label={t("limits:ask.label")}
        hint={t("limits:ask.hint")}
        error={fault(askAboveCredits, lowestAsk)}
        inputMode="numeric"
        autoComplete="off"
        value={askText}
        onChange={(event) => change(setAskText, event.target.value)}
      />
      <AlertField value={alertPercent} onChange={(percent) => change(setAlertPercent, percent)} />
      <Button type="submit" className={styles.more ?? ""} busy={busy !== undefined} busyLabel={t("limits:saving")}>
        {t("limits:save")}
      </Button>
      <p className={styles.lead} role="status">
        {saved && t("limits:saved")}
      </p>
      {note}
    </form>
  );
}

/** The limits that a person sets for their own spending. */
export function LimitsPanel() {
  const { t } = useTranslation(["limits", "usage", "common"]);
  const { state, read, keep } = useLimits();
  const again = (
    <Button size="small" onClick={read}>
      {t("common:retry")}
    </Button>
  );
  return (
    <Panel name="limits" title={t("limits:title")} lead={[t("limits:lead")]}>
      {state.status === "loading" && <Spinner label={t("usage:history.reading")} />}
      {state.status === "failed" && (
        <Alert tone="warning" action={again}>
          {t("limits:failed")}
        </Alert>
      )}
      {state.status === "known" && <LimitsForm limits={state.limits} onSaved={keep} />}
    </Panel>
  );
}
