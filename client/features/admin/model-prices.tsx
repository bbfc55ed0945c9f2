import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { TextField } from "#client/components/field.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AdminModel, PricePreview } from "#contract/admin/models.ts";
import { dayMs } from "#domain/clock.ts";
import { planList } from "#domain/plans.ts";
import { ActDialog } from "./act-dialog.tsx";
import styles from "./entries.module.css";
import { Facts } from "./facts.tsx";
import own from "./model-prices.module.css";
import { useModelPrice } from "./use-model-price.ts";
import { usePricesMeanwhile } from "./use-prices-meanwhile.ts";
import { useServerTime } from "./use-server-time.ts";

/** The server has the same limit (contract/admin/models.ts). */
const highestPrice = 500;
/** People see a price on the model's tile before it begins, so it usually begins in two weeks. */
const usualDaysAhead = 14;

const tones = { over: "neutral", now: "good", planned: "warning" } as const;
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

type Read = { credits: number; preview: PricePreview | "failed" };

/** Reads what the last typed price would have changed; undefined while that is being read. */
function usePreview(modelId: string, credits: number | undefined): PricePreview | "failed" | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    if (credits === undefined) return undefined;
    const given = new AbortController();
    const query = { params: { modelId }, querystring: { credits }, signal: given.signal };
    const set = (preview: Read["preview"]) => given.signal.aborted || setRead({ credits, preview });
    api("GET /api/admin/models/:modelId/price-preview", query).then(set, () => set("failed"));
    return () => given.abort();
  }, [modelId, credits]);
  return read && read.credits === credits ? read.preview : undefined;
}

/** How many people the price would have affected, and what each plan's credits pay for before and after. */
function Preview({ model, credits }: { model: AdminModel; credits: number }) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const preview = usePreview(model.id, credits);
  if (preview === undefined) return <Spinner label={t("models.prices.reading")} />;
  const perMonth = (monthlyCredits: number, price: number) => number(Math.floor(monthlyCredits / price));
  const used =
    preview === "failed"
      ? []
      : [
          { label: t("models.prices.accounts"), value: `${preview.hasMoreAccounts ? "> " : ""}${number(preview.accounts)}` },
          { label: t("models.prices.answers"), value: number(preview.answers) },
          { label: t("models.prices.charged"), value: number(preview.credits) },
          { label: t("models.prices.then"), value: number(preview.creditsThen) },
        ];
  const plans = planList.map(({ name, monthlyCredits }) => ({
    label: name,
    value: t("models.prices.perPlan", { now: perMonth(monthlyCredits, model.credits), after: perMonth(monthlyCredits, credits) }),
  }));
  return (
    <section className={own.preview} aria-live="polite">
      <h3>{t("models.prices.preview")}</h3>
      <p className={own.soft}>{preview === "failed" ? t("table.failed") : t("models.prices.within", { days: number(preview.days) })}</p>
      <Facts facts={[...used, ...plans]} />
    </section>
  );
}

interface DialogProps {
  model: AdminModel;
  onClose: () => void;
  onDone: () => void;
}

/** Waits for the server's time, because the sandbox's clock may be ahead of this device's. */
export function PlanPriceDialog(props: DialogProps) {
  const { t } = useTranslation("admin");
  const now = useServerTime();
  if (now === undefined) return <Spinner label={t("table.reading")} />;
  return <PlanPriceForm {...props} now={now} />;
}

function PlanPriceForm({ model, onClose, onDone, now }: DialogProps & { now: number }) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const [credits, setCredits] = useState("");
  const [beginsOn, setBeginsOn] = useState(() => dayOf(now + usualDaysAhead * dayMs));
  const [tried, setTried] = useState(false);
  const price = /^\d{1,3}$/.test(credits) ? Number(credits) : 0;
  const isPrice = price >= model.leastCredits && price <= highestPrice;
  const isSame = price === model.credits && !model.prices.some(({ state }) => state === "planned");
  const isToCome = beginsOn > dayOf(now);
  const wrong = t("models.prices.wrong", { least: number(model.leastCredits), most: number(highestPrice) });
  const { change, wordsOf } = usePricesMeanwhile(model);
  const plan = (reason: string) =>
    change(() =>
      api("POST /api/admin/models/:modelId/prices", { params: { modelId: model.id }, body: { credits: price, beginsOn, reason } }),
    );
  return (
    <ActDialog
      title={`${t("models.prices.plan")}: ${model.name}`}
      action={t("models.prices.plan")}
      ready={isPrice && !isSame && isToCome}
      onTry={() => setTried(true)}
      onClose={onClose}
      onDone={onDone}
      wordsOf={wordsOf}
      act={plan}
    >
      <p>{t("models.prices.planText")}</p>
      <TextField
        label={t("models.prices.credits")}
        error={isSame ? t("models.prices.same") : (tried || credits !== "") && !isPrice ? wrong : undefined}
        inputMode="numeric"
        autoComplete="off"
        required
        maxLength={3}
        value={credits}
        onChange={(event) => setCredits(event.target.value.trim())}
      />
      <TextField
        label={t("models.prices.begins")}
        error={isToCome ? undefined : t("models.prices.beginsWrong")}
        type="date"
        required
        min={dayOf(now + dayMs)}
        value={beginsOn}
        onChange={(event) => setBeginsOn(event.target.value)}
      />
      {isPrice && !isSame && <Preview model={model} credits={price} />}
    </ActDialog>
  );
}

export function DropPriceDialog({ model, beginsOn, onClose, onDone }: DialogProps & { beginsOn: string }) {
  const { t } = useTranslation("admin");
  const { change, wordsOf } = usePricesMeanwhile(model);
  const credits = model.prices.find((price) => price.beginsOn === beginsOn)?.credits ?? model.credits;
  return (
    <ActDialog
      title={`${t("models.prices.drop")}: ${model.name}`}
      action={t("models.prices.drop")}
      danger
      onClose={onClose}
      onDone={onDone}
      wordsOf={wordsOf}
      act={(reason) =>
        change(() =>
          api("POST /api/admin/models/:modelId/prices/drop", { params: { modelId: model.id }, body: { beginsOn, credits, reason } }),
        )
      }
    >
      <p>{t("models.prices.dropText")}</p>
    </ActDialog>
  );
}

/** What it cost, costs and will cost. */
export function PriceList({ model, onDrop }: { model: AdminModel; onDrop: ((beginsOn: string) => void) | undefined }) {
  const { t } = useTranslation("admin");
  const { date } = useUtc();
  const priceOf = useModelPrice();
  return (
    <ul className={styles.entries} aria-label={t("models.prices.title")}>
      {model.prices.map(({ beginsOn, credits, state }) => (
        <li key={beginsOn ?? ""} className={styles.entry}>
          <span className={styles.name}>
            {priceOf(model, credits)} <Badge tone={tones[state]}>{t(`models.prices.state.${state}`)}</Badge>
          </span>
          <span className={styles.detail}>
            {beginsOn === null ? t("models.prices.release") : t("models.prices.since", { date: date(beginsOn) })}
          </span>
          {onDrop && beginsOn !== null && state === "planned" && (
            <Button size="small" onClick={() => onDrop(beginsOn)}>
              {t("models.prices.drop")}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
