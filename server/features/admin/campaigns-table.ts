/** The panel's list of discount campaigns. There are few, since one runs at a time. */
import { sql } from "kysely";
import type { CampaignsQuery } from "../../contract/admin/campaigns.ts";
import { Campaign } from "../../contract/billing/campaigns.ts";
import type { CampaignRow } from "../billing/campaigns.ts";
import { presentCampaign } from "../billing/campaigns.ts";
import type { Table } from "./tables.ts";

const id = { column: sql`c.id`, type: "uuid" } as const;

/** The table at this moment of business time. */
export function campaignsTable(now: Date): Table<CampaignRow, Campaign, CampaignsQuery, "start" | "end" | "percent"> {
  const states = {
    planned: sql<boolean>`c.starts_at > ${now}`,
    running: sql<boolean>`c.starts_at <= ${now} and c.ends_at > ${now}`,
    over: sql<boolean>`c.ends_at <= ${now}`,
  } as const;
  return {
    columns: sql`c.id, c.percent, c.audience, c.ended_days, c.plan_keys, c.starts_at, c.ends_at, c.created_at`,
    from: sql`discount_campaigns c`,
    sorts: {
      start: [{ column: sql`c.starts_at`, type: "timestamptz" }, id],
      end: [{ column: sql`c.ends_at`, type: "timestamptz" }, id],
      percent: [{ column: sql`c.percent`, type: "bigint" }, id],
    },
    defaultSort: "start",
    conditionsOf: ({ state }) => [state === undefined ? undefined : states[state]],
    shown: Campaign,
    show: (row) => presentCampaign(row, now),
  };
}
