import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { ApiProblem, api, apiResponse } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { CampaignsQuery } from "#contract/admin/campaigns.ts";
import type { Campaign, CampaignResults } from "#contract/billing/campaigns.ts";
import { plans } from "#domain/plans.ts";
import { ActDialog } from "./act-dialog.tsx";
import { AdminHead } from "./admin-frame.tsx";
import { PlanDialog } from "./campaign-plan-dialog.tsx";
import type { Column } from "./data-table.tsx";
import { DataTable } from "./data-table.tsx";
import { Facts } from "./facts.tsx";
import styles from "./person.module.css";
import type { TableQuery } from "./use-table.ts";

const tones = { planned: "neutral", running: "good", over: "neutral" } as const;

const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/campaigns", { querystring: query as CampaignsQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/campaigns.csv", { querystring: query as CampaignsQuery });

function EndDialog({ campaign, onClose, onDone }: { campaign: Campaign; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation("admin");
  const isPlanned = campaign.state === "planned";
  const title = t(isPlanned ? "campaigns.drop" : "campaigns.endNow");
  return (
    <ActDialog
      title={title}
      action={title}
      danger
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "not_found" ? t("reason.meanwhile") : undefined)}
      onClose={onClose}
      onDone={onDone}
      act={(reason) => api("POST /api/admin/campaigns/end", { body: { campaignId: campaign.id, reason } })}
    >
      <p>{t(isPlanned ? "campaigns.dropText" : "campaigns.endText")}</p>
    </ActDialog>
  );
}

/** The results are read only when they are opened, because the server counts every order of the campaign. */
function Results({ campaignId }: { campaignId: string }) {
  const { t } = useTranslation(["admin", "common"]);
  const { money, number } = useFormat();
  const [results, setResults] = useState<CampaignResults | "failed" | undefined>();
  const look = useCallback(() => {
    setResults(undefined);
    api("GET /api/admin/campaigns/:campaignId/results", { params: { campaignId } }).then(setResults, () => setResults("failed"));
  }, [campaignId]);
  useEffect(look, [look]);
  if (results === undefined) return <Spinner label={t("admin:table.reading")} />;
  if (results === "failed")
    return (
      <Alert
        tone="warning"
        action={
          <Button size="small" onClick={look}>
            {t("common:retry")}
          </Button>
        }
      >
        {t("admin:table.failed")}
      </Alert>
    );
  return (
    <Facts
      facts={[
        { label: t("admin:campaigns.orders"), value: number(results.orders) },
        { label: t("admin:campaigns.stillRunning"), value: number(results.running) },
        { label: t("admin:campaigns.revenue"), value: money(results.revenueCents) },
        ...(results.returnedCents > 0
          ? [
              { label: t("admin:campaigns.returned"), value: money(results.returnedCents) },
              { label: t("admin:campaigns.kept"), value: money(results.revenueCents - results.returnedCents) },
            ]
          : []),
        { label: t("admin:campaigns.discount"), value: money(results.discountCents) },
      ]}
    />
  );
}

/** For whom a campaign is, and for which plans, in words. */
function useAudience(): (campaign: Campaign) => { who: string; plans: string } {
  const { t } = useTranslation("admin");
  const { list } = useFormat();
  return ({ audience, endedDays, plans: keys }) => ({
    who: audience === "left" ? t("campaigns.audience.leftFor", { count: endedDays ?? 0 }) : t("campaigns.audience.new"),
    plans: keys ? list(keys.map((key) => plans[key].name)) : t("campaigns.allPlans"),
  });
}

interface ViewProps {
  campaign: Campaign;
  onEnd: () => void;
}

function CampaignView({ campaign, onEnd }: ViewProps) {
  const { t } = useTranslation("admin");
  const { id, startsAt, endsAt, state } = campaign;
  const { who, plans: forPlans } = useAudience()(campaign);
  const { dateTime } = useUtc();
  return (
    <div className={styles.block}>
      <Facts
        facts={[
          { label: t("people.state"), value: t(`campaigns.state.${state}`) },
          { label: t("campaigns.who"), value: who },
          { label: t("campaigns.plans"), value: forPlans },
          { label: t("campaigns.start"), value: dateTime(startsAt) },
          { label: t("campaigns.end"), value: dateTime(endsAt) },
        ]}
      />
      {state !== "planned" && (
        <>
          <h3>{t("campaigns.results")}</h3>
          <Results campaignId={id} />
        </>
      )}
      {state !== "over" && (
        <div className={styles.acts}>
          <Button size="small" onClick={onEnd}>
            {t(state === "planned" ? "campaigns.drop" : "campaigns.endNow")}
          </Button>
        </div>
      )}
    </div>
  );
}

function useColumns(): readonly [Column<Campaign>, ...Column<Campaign>[]] {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const audienceOf = useAudience();
  return [
    { name: "percent", label: t("campaigns.percent"), cell: ({ percent }) => t("campaigns.off", { percent }), sort: "percent" },
    { name: "state", label: t("people.state"), cell: ({ state }) => <Badge tone={tones[state]}>{t(`campaigns.state.${state}`)}</Badge> },
    { name: "who", label: t("campaigns.who"), cell: (campaign) => audienceOf(campaign).who },
    { name: "plans", label: t("campaigns.plans"), cell: (campaign) => audienceOf(campaign).plans },
    { name: "start", label: t("campaigns.start"), cell: ({ startsAt }) => dateTime(startsAt), sort: "start", isTime: true },
    { name: "end", label: t("campaigns.end"), cell: ({ endsAt }) => dateTime(endsAt), sort: "end", isTime: true },
    { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
  ];
}

/** Discounts on the first period, and for whom each is. */
export function CampaignsSection() {
  const { t } = useTranslation("admin");
  const columns = useColumns();
  const [opened, setOpened] = useState<Campaign>();
  const [asked, setAsked] = useState<"plan" | "end">();
  const [version, setVersion] = useState(0);
  const close = () => setAsked(undefined);
  const done = () => {
    close();
    setOpened(undefined);
    setVersion(version + 1);
  };
  return (
    <>
      <AdminHead title={t("sections.campaigns")} lead={t("campaigns.lead")}>
        <Button size="small" variant="primary" onClick={() => setAsked("plan")}>
          {t("campaigns.plan")}
        </Button>
      </AdminHead>
      <DataTable
        key={version}
        list="campaigns"
        label={t("sections.campaigns")}
        columns={columns}
        filters={[
          {
            name: "state",
            label: t("people.state"),
            options: (["planned", "running", "over"] as const).map((value) => ({ value, label: t(`campaigns.state.${value}`) })),
          },
        ]}
        load={load}
        download={download}
        open={(campaign) => () => setOpened(campaign)}
        empty={t("campaigns.none")}
        emptyText={t("campaigns.noneText")}
      />
      <Dialog
        open={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened ? t("campaigns.off", { percent: opened.percent }) : ""}
      >
        {opened && <CampaignView campaign={opened} onEnd={() => setAsked("end")} />}
      </Dialog>
      {asked === "plan" && <PlanDialog onClose={close} onDone={done} />}
      {asked === "end" && opened && <EndDialog campaign={opened} onClose={done} onDone={done} />}
    </>
  );
}
