import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Select, TextField } from "#client/components/field.tsx";
import { Segmented } from "#client/components/segmented.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import type { BillingInterval, PlanKey } from "#domain/plans.ts";
import { billingIntervals, planList } from "#domain/plans.ts";
import type { RoiAmount, RoiInputs } from "#domain/roi.ts";
import { monthlyCostCents, roiBounds } from "#domain/roi.ts";
import styles from "./roi-calculator.module.css";
import { exampleInputs, parseTyped, readRoiQuery, roiAmounts, takesDecimals, typedBound, typedOf, writeRoiQuery } from "./roi-query.ts";
import { RoiResults } from "./roi-results.tsx";
import { unitOf } from "./roi-units.ts";

/** The fields as typed, which may be incomplete numbers, and the two choices. */
interface Typed extends Record<RoiAmount, string> {
  plan: PlanKey;
  interval: BillingInterval;
}

function typedFrom(inputs: RoiInputs, language: string): Typed {
  const [taskMinutes, hourlyCents, savedPercent, checkMinutes] = [
    typedOf("taskMinutes", inputs.taskMinutes, language),
    typedOf("hourlyCents", inputs.hourlyCents, language),
    typedOf("savedPercent", inputs.savedPercent, language),
    typedOf("checkMinutes", inputs.checkMinutes, language),
  ];
  return { taskMinutes, hourlyCents, savedPercent, checkMinutes, plan: inputs.plan, interval: inputs.interval };
}

/** Undefined if a field has no amount within its bounds. */
function inputsFrom(typed: Typed): RoiInputs | undefined {
  const [taskMinutes, hourlyCents, savedPercent, checkMinutes] = roiAmounts.map((name) => parseTyped(name, typed[name]));
  if (taskMinutes === undefined || hourlyCents === undefined || savedPercent === undefined || checkMinutes === undefined) return undefined;
  return { taskMinutes, hourlyCents, savedPercent, checkMinutes, plan: typed.plan, interval: typed.interval };
}

/** Browsers limit how often a page may change its address, so it is not changed on every key. */
const addressAfterMs = 400;

/** Writes the inputs into the address, so that a reload and a bookmark restore them. */
function useAddress(inputs: RoiInputs | undefined, touched: boolean): void {
  useEffect(() => {
    if (!inputs || !touched) return;
    const timer = setTimeout(() => {
      const query = writeRoiQuery(inputs, new URLSearchParams(location.search));
      history.replaceState(history.state, "", `${location.pathname}?${query}${location.hash}`);
    }, addressAfterMs);
    return () => clearTimeout(timer);
  }, [inputs, touched]);
}

function Amount({ name, typed, onTyped }: { name: RoiAmount; typed: string; onTyped: (text: string) => void }) {
  const { t, i18n } = useTranslation("roi");
  const { number } = useFormat();
  const { min, max } = roiBounds[name];
  const bounds = { min: number(typedBound(name, min)), max: number(typedBound(name, max)) };
  const wrong = parseTyped(name, typed) === undefined;
  return (
    <TextField
      label={t(`field.${name}`)}
      inputMode={takesDecimals(name) ? "decimal" : "numeric"}
      autoComplete="off"
      maxLength={8}
      value={typed}
      onChange={(event) => onTyped(event.target.value)}
      error={wrong ? t(takesDecimals(name) ? "range" : "rangeWhole", bounds) : undefined}
      trailing={
        <span className={styles.unit} aria-hidden="true">
          {unitOf(name, i18n.language)}
        </span>
      }
    />
  );
}

/** Calculates what a plan saves on one weekly task. Everything is calculated on the device. */
export function RoiCalculator() {
  const { t, i18n } = useTranslation("roi");
  const { money } = useFormat();
  const language = i18n.language;
  const [typed, setTyped] = useState<Typed>(() => typedFrom(exampleInputs, language));
  const [touched, setTouched] = useState(false);
  // Disabled until hydration, because text typed before would be lost.
  const [live, setLive] = useState(false);
  useEffect(() => setLive(true), []);
  const inputs = inputsFrom(typed);
  useAddress(inputs, touched);

  // The first render must match the prerendered one, which has no query string.
  useEffect(() => {
    const search = new URLSearchParams(location.search);
    if (search.size > 0) setTyped(typedFrom(readRoiQuery(search), language));
  }, [language]);

  const change = (part: Partial<Typed>) => {
    setTouched(true);
    setTyped((before) => ({ ...before, ...part }));
  };
  const plans = planList.map(({ key, name }) => ({
    value: key,
    label: t("planOption", { plan: name, price: money(monthlyCostCents(key, typed.interval)) }),
  }));
  return (
    <section className={styles.calculator} aria-labelledby="calculator" lang={language}>
      <header className={styles.head}>
        <h2 id="calculator">{t("title")}</h2>
        <p>{t("lead")}</p>
      </header>
      <fieldset className={styles.fields} disabled={!live}>
        {roiAmounts.map((name) => (
          <Amount key={name} name={name} typed={typed[name]} onTyped={(text) => change({ [name]: text })} />
        ))}
        <Select
          label={t("field.plan")}
          options={plans}
          value={typed.plan}
          onChange={({ target }) => change({ plan: planList.find(({ key }) => key === target.value)?.key ?? typed.plan })}
        />
        <div className={styles.paid}>
          <p className={styles.label} aria-hidden="true">
            {t("field.interval")}
          </p>
          <Segmented
            label={t("field.interval")}
            options={billingIntervals.map((value) => ({ value, label: t(`interval.${value}`) }))}
            value={typed.interval}
            onChange={(interval) => change({ interval })}
          />
        </div>
      </fieldset>
      <RoiResults inputs={inputs} touched={touched} />
    </section>
  );
}
