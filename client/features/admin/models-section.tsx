import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useSearchParams } from "wouter";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { knownModel } from "#client/lib/known-models.ts";
import { providerName } from "#client/lib/provider-names.ts";
import { shownModels } from "#client/lib/shown-edition.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AdminModel, ModelsQuery } from "#contract/admin/models.ts";
import { catalogue, modelCategories } from "#domain/models.ts";
import type { TeamRole } from "#domain/team.ts";
import { AdminHead } from "./admin-frame.tsx";
import type { Column } from "./data-table.tsx";
import { DataTable } from "./data-table.tsx";
import { Facts } from "./facts.tsx";
import type { Filter } from "./filter.ts";
import { DropPriceDialog, PlanPriceDialog, PriceList } from "./model-prices.tsx";
import styles from "./person.module.css";
import { SwitchDialog } from "./switch-dialog.tsx";
import { useModelPrice } from "./use-model-price.ts";
import type { TableQuery } from "./use-table.ts";

const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/models", { querystring: query as ModelsQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/models.csv", { querystring: query as ModelsQuery });

const states = ["offered", "announced", "off", "paused", "unreachable", "planned", "retired"] as const satisfies AdminModel["state"][];
const tones = {
  offered: "good",
  announced: "warning",
  off: "danger",
  paused: "danger",
  unreachable: "danger",
  planned: "neutral",
  retired: "neutral",
} as const satisfies Record<AdminModel["state"], string>;

/** The providers to filter by. For the operator's own models, the server's name takes the provider's place. */
const providersOf = () => [
  ...new Set([...catalogue.map(({ provider }) => provider), ...shownModels().own.map(({ own, provider }) => own?.server ?? provider)]),
];
const nameOf = (id: string) => knownModel(id)?.name ?? id;

function StateBadge({ state }: Pick<AdminModel, "state">) {
  const { t } = useTranslation("admin");
  return <Badge tone={tones[state]}>{t(`models.states.${state}`)}</Badge>;
}

/** What is done with a model, in a dialog of its own. */
type Act = { kind: "switch"; off: boolean } | { kind: "plan" } | { kind: "drop"; beginsOn: string };

interface ViewProps {
  model: AdminModel;
  /** Missing for people who may only look. */
  onAct: ((act: Act) => void) | undefined;
}

/** Everything about one model, and what can be done with it. */
function ModelView({ model, onAct }: ViewProps) {
  const { t, i18n } = useTranslation(["admin", "common"]);
  const { number, seconds } = useFormat();
  const { day, dateTime } = useUtc();
  const { from, until, successor, offBy, texts, switchedAt, pausedSeconds, finding } = model;
  const counted = ({ answers, failed }: AdminModel["today"]) =>
    t("admin:models.counted", { answers: number(answers), failed: number(failed) });
  const isLiving = model.state !== "retired";
  return (
    <div className={styles.block}>
      <Facts
        facts={[
          { label: t("admin:people.state"), value: <StateBadge state={model.state} /> },
          { label: t("admin:models.offBy"), value: offBy && t(`admin:models.by.${offBy}`) },
          { label: t("admin:models.text"), value: offBy === "admin" && (texts[i18n.language as "en"] ?? texts.en) },
          { label: t("admin:models.switched"), value: switchedAt && dateTime(switchedAt) },
          { label: t("admin:models.paused"), value: pausedSeconds && seconds(pausedSeconds) },
          { label: t("admin:models.finding"), value: finding && t(`admin:models.findings.${finding as "model_gone"}`) },
          { label: t("admin:models.today"), value: counted(model.today) },
          { label: t("admin:models.lastHour"), value: counted(model.lastHour) },
          { label: t("admin:models.provider"), value: `${providerName(model.provider)}${model.sandbox ? " · Sandbox" : ""}` },
          { label: t("admin:models.upstream"), value: model.upstreamModel },
          { label: t("admin:people.id"), value: model.id },
          { label: t("admin:models.from"), value: day(from) },
          { label: t("admin:models.until"), value: until && day(until) },
          { label: t("admin:models.successor"), value: successor && nameOf(successor) },
        ]}
      />
      <PriceList model={model} onDrop={onAct && ((beginsOn) => onAct({ kind: "drop", beginsOn }))} />
      <p className={styles.soft}>{t("admin:models.priceNote")}</p>
      {onAct && isLiving && (
        <div className={styles.acts}>
          {offBy === "admin" && (
            <Button variant="primary" onClick={() => onAct({ kind: "switch", off: false })}>
              {t("admin:models.switchOn")}
            </Button>
          )}
          {offBy !== "file" && (
            <Button onClick={() => onAct({ kind: "switch", off: true })}>
              {t(offBy === "admin" ? "admin:models.changeText" : "admin:models.switchOff")}
            </Button>
          )}
          <Button onClick={() => onAct({ kind: "plan" })}>{t("admin:models.prices.plan")}</Button>
        </div>
      )}
    </div>
  );
}

function useColumns(): readonly [Column<AdminModel>, ...Column<AdminModel>[]] {
  const { t } = useTranslation(["admin", "common"]);
  const { number } = useFormat();
  const { day } = useUtc();
  const priceOf = useModelPrice();
  return [
    { name: "model", label: t("admin:models.model"), cell: ({ name }) => name, sort: "name" },
    { name: "state", label: t("admin:people.state"), cell: ({ state }) => <StateBadge state={state} /> },
    { name: "provider", label: t("admin:models.provider"), cell: ({ provider }) => providerName(provider) },
    { name: "category", label: t("admin:models.category"), cell: ({ category }) => t(`common:model.category.${category}`) },
    { name: "price", label: t("admin:models.price"), cell: (model) => priceOf(model, model.credits) },
    { name: "until", label: t("admin:models.until"), cell: ({ until }) => until && day(until) },
    {
      name: "answers",
      label: t("admin:models.answers"),
      cell: ({ today }) => number(today.answers),
      sort: "answers",
      isNumber: true,
    },
    { name: "failed", label: t("admin:models.failed"), cell: ({ today }) => number(today.failed), sort: "failed", isNumber: true },
    { name: "from", label: t("admin:models.from"), cell: ({ from }) => day(from), isExtra: true },
    { name: "successor", label: t("admin:models.successor"), cell: ({ successor }) => successor && nameOf(successor), isExtra: true },
    { name: "upstream", label: t("admin:models.upstream"), cell: ({ upstreamModel }) => upstreamModel, isExtra: true },
    { name: "id", label: t("admin:people.id"), cell: ({ id }) => id, isExtra: true },
  ];
}

function useFilters(): Filter[] {
  const { t } = useTranslation(["admin", "common"]);
  return [
    {
      name: "state",
      label: t("admin:people.state"),
      options: states.map((value) => ({ value, label: t(`admin:models.states.${value}`) })),
    },
    {
      name: "category",
      label: t("admin:models.category"),
      options: modelCategories.map((value) => ({ value, label: t(`common:model.category.${value}`) })),
    },
    {
      name: "provider",
      label: t("admin:models.provider"),
      options: providersOf().map((value) => ({ value, label: providerName(value) })),
    },
  ];
}

/** Which models there are, how they answer, and the switch of each. */
export function ModelsSection({ role }: { role: TeamRole }) {
  const { t } = useTranslation("admin");
  const [columns, filters] = [useColumns(), useFilters()];
  const [opened, setOpened] = useState<AdminModel>();
  const [act, setAct] = useState<Act>();
  const [version, setVersion] = useState(0);
  const [search] = useSearchParams();
  const id = search.get("model");
  // The model that the address names is open. It is a query parameter, because in a path an id could look like a file's name.
  useEffect(() => {
    if (id === null) return;
    api("GET /api/admin/models").then(
      ({ rows }) => setOpened(rows.find((row) => row.id === id)),
      (error: unknown) => console.warn("Could not read the model.", error),
    );
  }, [id]);
  const given = {
    onClose: () => setAct(undefined),
    onDone: () => {
      setAct(undefined);
      setOpened(undefined);
      setVersion(version + 1);
    },
  };
  return (
    <>
      <AdminHead title={t("sections.models")} lead={t("models.lead")} />
      <DataTable
        key={version}
        list="models"
        label={t("sections.models")}
        columns={columns}
        filters={filters}
        load={load}
        download={download}
        open={(row) => () => setOpened(row)}
        empty={t("models.empty")}
      />
      <Dialog open={opened !== undefined} onClose={() => setOpened(undefined)} title={opened?.name ?? ""}>
        {opened && <ModelView model={opened} onAct={role === "admin" ? setAct : undefined} />}
      </Dialog>
      {opened && act?.kind === "switch" && <SwitchDialog model={opened} off={act.off} {...given} />}
      {opened && act?.kind === "plan" && <PlanPriceDialog model={opened} {...given} />}
      {opened && act?.kind === "drop" && <DropPriceDialog model={opened} beginsOn={act.beginsOn} {...given} />}
    </>
  );
}
