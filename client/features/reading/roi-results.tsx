import { Check, Link2, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { classNames } from "#client/components/class-names.ts";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";
import { useCopy } from "#client/lib/use-copy.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { RoiInputs, RoiResult } from "#domain/roi.ts";
import { returnOnPlan } from "#domain/roi.ts";
import styles from "./roi-calculator.module.css";
import { writeRoiQuery } from "./roi-query.ts";
import { hoursText, minutesText } from "./roi-units.ts";

const icons = { idle: Link2, copied: Check, failed: X };

/** Announced once the person has stopped typing, not on every key. */
const saidAfterMs = 900;

function useTexts() {
  const { t, i18n } = useTranslation("roi");
  const { money } = useFormat();
  const language = i18n.language;
  return { figuresOf, verdictOf, said };

  function figuresOf(result: RoiResult) {
    return [
      { name: "savedMinutes", text: hoursText(result.savedMinutes, language) },
      { name: "valueCents", text: money(result.valueCents) },
      { name: "costCents", text: money(result.costCents) },
      { name: "breakEvenMinutes", text: result.breakEvenMinutes === null ? t("never") : minutesText(result.breakEvenMinutes, language) },
    ] as const;
  }

  function verdictOf({ netCents, savedMinutes }: RoiResult): string {
    if (savedMinutes < 0) return t("verdict.checking");
    return netCents < 0 ? t("verdict.costs", { amount: money(-netCents) }) : t("verdict.pays");
  }

  function said(result: RoiResult): string {
    const { savedMinutes, valueCents, costCents, netCents } = result;
    const figures = { hours: hoursText(savedMinutes, language), value: money(valueCents), cost: money(costCents), net: money(netCents) };
    return t("said", figures);
  }
}

/** Empty until the calculator is used, because the initial result need not be announced. */
function useAnnouncement(text: string, touched: boolean): string {
  const [announced, setAnnounced] = useState("");
  useEffect(() => {
    if (!touched) return;
    const timer = setTimeout(() => setAnnounced(text), saidAfterMs);
    return () => clearTimeout(timer);
  }, [text, touched]);
  return announced;
}

function CopyLink({ inputs }: { inputs: RoiInputs }) {
  const { t } = useTranslation("roi");
  const { state, copy } = useCopy();
  const Icon = icons[state];
  const said = state === "idle" ? t("link.copy") : t(`link.${state}`);
  const copyLink = () => {
    const query = writeRoiQuery(inputs, new URLSearchParams(location.search));
    copy(`${location.origin}${location.pathname}?${query}#calculator`);
  };
  return (
    <div className={styles.link}>
      <Button size="small" onClick={copyLink}>
        <Icon size={16} aria-hidden="true" />
        {said}
      </Button>
      <span role="status">
        <VisuallyHidden>{state === "idle" ? "" : said}</VisuallyHidden>
      </span>
    </div>
  );
}

function Figures({ result }: { result: RoiResult }) {
  const { t } = useTranslation("roi");
  const { money } = useFormat();
  const { figuresOf, verdictOf } = useTexts();
  return (
    <>
      <dl className={styles.net}>
        <dt>{t("result.netCents")}</dt>
        <dd className={classNames(result.netCents < 0 && styles.loss)}>{money(result.netCents)}</dd>
        <dd className={styles.verdict}>{verdictOf(result)}</dd>
      </dl>
      <dl className={styles.figures}>
        {figuresOf(result).map(({ name, text }) => (
          <div key={name}>
            <dt>{t(`result.${name}`)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** `inputs` are undefined if a field has no valid number. */
export function RoiResults({ inputs, touched }: { inputs: RoiInputs | undefined; touched: boolean }) {
  const { t } = useTranslation("roi");
  const { said } = useTexts();
  const result = inputs && returnOnPlan(inputs);
  const announcement = useAnnouncement(result ? said(result) : t("incomplete"), touched);
  return (
    <>
      <div className={styles.results}>
        {result ? <Figures result={result} /> : <p className={styles.incomplete}>{t("incomplete")}</p>}
        {inputs && <CopyLink inputs={inputs} />}
      </div>
      <span role="status">
        <VisuallyHidden>{announcement}</VisuallyHidden>
      </span>
    </>
  );
}
