import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Checkbox, Select, TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { CampaignAudience } from "#domain/campaigns.ts";
import { campaignAudiences, endedDaysLimits } from "#domain/campaigns.ts";
import { dayMs } from "#domain/clock.ts";
import type { PlanKey } from "#domain/plans.ts";
import { planKeys, plans } from "#domain/plans.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./campaign-plan-dialog.module.css";

const usualPercent = "20";
const usualDays = 14;

/** The value that a field for a day and a time takes, in UTC. */
const fieldTime = (time: Date) => time.toISOString().slice(0, "2026-01-01T00:00".length);
const timestampOf = (value: string) => `${value}:00Z`;

interface PlanChoiceProps {
  chosen: readonly PlanKey[];
  choose: (plans: readonly PlanKey[]) => void;
}

function PlanChoice({ chosen, choose }: PlanChoiceProps) {
  const { t } = useTranslation("admin");
  return (
    <fieldset className={styles.plans}>
      <legend>{t("campaigns.plans")}</legend>
      {planKeys.map((key) => (
        <Checkbox
          key={key}
          label={plans[key].name}
          checked={chosen.includes(key)}
          onChange={({ target }) => choose(planKeys.filter((each) => (each === key ? target.checked : chosen.includes(each))))}
        />
      ))}
      {chosen.length === 0 && (
        <p className={styles.error} role="alert">
          {t("campaigns.plansWrong")}
        </p>
      )}
    </fieldset>
  );
}

interface AudienceFieldsProps {
  audience: CampaignAudience;
  /** What is written in the field. */
  days: string;
  isWrong: boolean;
  choose: (audience: CampaignAudience) => void;
  write: (days: string) => void;
}

function AudienceFields({ audience, days, isWrong, choose, write }: AudienceFieldsProps) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const limits = { min: number(endedDaysLimits.min), max: number(endedDaysLimits.max) };
  return (
    <>
      <Select
        label={t("campaigns.who")}
        hint={t(`campaigns.audience.${audience}Hint`)}
        value={audience}
        onChange={({ target }) => choose(target.value === "left" ? "left" : "new")}
        options={campaignAudiences.map((value) => ({ value, label: t(`campaigns.audience.${value}`) }))}
      />
      {audience === "left" && (
        <TextField
          label={t("campaigns.endedDays")}
          error={isWrong ? t("campaigns.endedDaysWrong", limits) : undefined}
          inputMode="numeric"
          autoComplete="off"
          required
          maxLength={3}
          value={days}
          onChange={(event) => write(event.target.value.trim())}
        />
      )}
    </>
  );
}

/** Plans a discount: how much, for whom, for which plans, and from when until when. */
export function PlanDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation("admin");
  const [percent, setPercent] = useState(usualPercent);
  const [startsAt, setStart] = useState(() => fieldTime(new Date()));
  const [endsAt, setEnd] = useState(() => fieldTime(new Date(Date.now() + usualDays * dayMs)));
  const [audience, setAudience] = useState<CampaignAudience>("new");
  const [days, setDays] = useState(String(endedDaysLimits.usual));
  const [chosen, setChosen] = useState<readonly PlanKey[]>(planKeys);
  const isWhole = /^([1-9]|[1-8]\d|90)$/.test(percent);
  const isInOrder = startsAt !== "" && endsAt > startsAt;
  const isInLimits = /^\d{1,3}$/.test(days) && Number(days) >= endedDaysLimits.min && Number(days) <= endedDaysLimits.max;
  const areDaysRight = audience === "new" || isInLimits;
  const plan = (reason: string) =>
    api("POST /api/admin/campaigns", {
      body: {
        ...{ percent: Number(percent), audience, startsAt: timestampOf(startsAt), endsAt: timestampOf(endsAt), reason },
        ...(audience === "left" && { endedDays: Number(days) }),
        ...(chosen.length < planKeys.length && { plans: [...chosen] }),
      },
    });
  return (
    <ActDialog
      title={t("campaigns.plan")}
      action={t("campaigns.plan")}
      ready={isWhole && isInOrder && areDaysRight && chosen.length > 0}
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "conflict" ? t("campaigns.overlap") : undefined)}
      onClose={onClose}
      onDone={onDone}
      act={plan}
    >
      <TextField
        label={t("campaigns.percent")}
        hint={t("campaigns.percentHint")}
        error={isWhole ? undefined : t("campaigns.percentWrong")}
        inputMode="numeric"
        autoComplete="off"
        trailing="%"
        required
        maxLength={2}
        value={percent}
        onChange={(event) => setPercent(event.target.value.trim())}
      />
      <AudienceFields audience={audience} days={days} isWrong={!isInLimits} choose={setAudience} write={setDays} />
      <PlanChoice chosen={chosen} choose={setChosen} />
      <TextField
        label={t("campaigns.start")}
        hint={t("campaigns.startHint")}
        type="datetime-local"
        required
        value={startsAt}
        onChange={(event) => setStart(event.target.value)}
      />
      <TextField
        label={t("campaigns.end")}
        error={isInOrder ? undefined : t("campaigns.endWrong")}
        type="datetime-local"
        required
        value={endsAt}
        onChange={(event) => setEnd(event.target.value)}
      />
    </ActDialog>
  );
}
