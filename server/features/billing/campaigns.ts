/** The discount campaigns that an admin sets (discount.ts says what they mean for a person). One runs at a time. */
import type { Selectable } from "kysely";
import { sql } from "kysely";
import { DomainError } from "#domain/errors.ts";
import type { Campaign, CampaignResults, EndedCampaign, NewCampaign } from "../../contract/billing/campaigns.ts";
import { recordAct } from "../../db/audit.ts";
import type { Executor, Trx } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { DiscountCampaigns } from "../../db/types-billing.ts";
import type { Deps } from "../../deps.ts";
import type { Clerk } from "../team/service.ts";
import { lockSubject } from "./queries.ts";

const notFound = () => new DomainError("not_found", "There is no such campaign");

export type CampaignRow = Selectable<DiscountCampaigns>;

export function presentCampaign(row: CampaignRow, now: Date): Campaign {
  const { id, percent, audience, ended_days: endedDays, plan_keys: plans, starts_at: startsAt, ends_at: endsAt } = row;
  const begun = startsAt <= now ? "running" : "planned";
  return {
    ...{ id, percent, audience, endedDays, plans },
    startsAt: startsAt.toISOString(),
    endsAt: endsAt.toISOString(),
    state: endsAt <= now ? "over" : begun,
  };
}

/** Counts what was ordered while it ran. Throws `not_found`. */
export async function readCampaignResults({ db }: Pick<Deps, "db">, campaignId: string): Promise<CampaignResults> {
  const campaign = await db.selectFrom("discount_campaigns").selectAll().where("id", "=", campaignId).executeTakeFirst();
  if (!campaign) throw notFound();
  const { rows } = await sql<Record<"orders" | "running" | "revenue" | "returned" | "discount", string>>`
    select count(*) as orders, count(*) filter (where running) as running, coalesce(sum(amount_cents), 0) as revenue,
        coalesce(sum(returned), 0) as returned, coalesce(sum(later_cents - amount_cents), 0) as discount
      from orders, lateral (select exists (select from user_subscriptions
          where stripe_subscription_id = orders.contract_id and status in ('active', 'past_due')) as running) as plan
        left join lateral (select least(orders.amount_cents, r.refunded_cents + r.lost_cents) as returned from charge_returns r
            join grants g on g.charge_id = r.charge_id join invoices i on i.id = g.invoice_id
          where r.billing_account_id = orders.billing_account_id and i.stripe_subscription_id = orders.contract_id
            and not exists (select from invoices earlier where earlier.billing_account_id = i.billing_account_id
              and earlier.stripe_subscription_id = i.stripe_subscription_id and earlier.issued_at < i.issued_at) limit 1) as first on true
      where concluded_at is not null and amount_cents < later_cents
        and consented_at >= ${campaign.starts_at} and consented_at < ${campaign.ends_at}`.execute(db);
  const [counted] = rows;
  return {
    orders: Number(counted?.orders),
    running: Number(counted?.running),
    revenueCents: Number(counted?.revenue),
    returnedCents: Number(counted?.returned),
    discountCents: Number(counted?.discount),
  };
}

async function overlaps(executor: Executor, startsAt: Date, endsAt: Date): Promise<boolean> {
  const campaigns = executor.selectFrom("discount_campaigns").select("id");
  const row = await campaigns.where("starts_at", "<", endsAt).where("ends_at", ">", startsAt).limit(1).executeTakeFirst();
  return row !== undefined;
}

type Act = { action: "campaign.planned" | "campaign.ended"; reason: string };

async function record(trx: Trx, { userId, network }: Clerk, act: Act, row: CampaignRow): Promise<void> {
  const { percent, audience, ended_days: endedDays, plan_keys: plans } = row;
  const details = { percent, audience, ...(endedDays !== null && { endedDays }), ...(plans && { plans }) };
  await recordAct(trx, { ...act, actor: userId, subject: null, network, details });
}

/** Throws `validation_failed` unless the days are given for those who left, and for nobody else. */
function audienceOf({ audience = "new", endedDays, plans }: NewCampaign) {
  if ((audience === "left") !== (endedDays !== undefined)) {
    const message = "Say how many days ago their plan ended, of those who left and of nobody else";
    throw new DomainError("validation_failed", message, { fields: [{ field: "endedDays", message }] });
  }
  return { audience, ended_days: endedDays ?? null, plan_keys: plans ?? null };
}

/**
 * Plans a campaign; one whose start is past begins at once. Throws `validation_failed`, and `conflict` if it ends before it begins, or another one
 * runs meanwhile.
 */
export async function planCampaign(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, wanted: NewCampaign): Promise<Campaign> {
  const now = deps.clock.now();
  const startsAt = new Date(Math.max(Date.parse(wanted.startsAt), now.getTime()));
  const endsAt = new Date(wanted.endsAt);
  const audience = audienceOf(wanted);
  if (endsAt <= startsAt) throw new DomainError("conflict", "The campaign would be over before it begins");
  return inTransaction(deps.db, async (trx) => {
    await lockSubject(trx, "campaigns");
    if (await overlaps(trx, startsAt, endsAt)) throw new DomainError("conflict", "Another campaign runs at that time");
    const values = { percent: wanted.percent, ...audience, starts_at: startsAt, ends_at: endsAt, created_at: now };
    const row = await trx.insertInto("discount_campaigns").values(values).returningAll().executeTakeFirstOrThrow();
    await record(trx, clerk, { action: "campaign.planned", reason: wanted.reason }, row);
    return presentCampaign(row, now);
  });
}

/** Ends a running campaign, or drops one that has not begun. Throws `not_found`, and `conflict` if it is over. */
export async function endCampaign(deps: Pick<Deps, "db" | "clock">, clerk: Clerk, { campaignId, reason }: EndedCampaign): Promise<void> {
  const now = deps.clock.now();
  await inTransaction(deps.db, async (trx) => {
    await lockSubject(trx, "campaigns");
    const row = await trx.selectFrom("discount_campaigns").selectAll().where("id", "=", campaignId).executeTakeFirst();
    if (!row) throw notFound();
    if (row.ends_at <= now) throw new DomainError("conflict", "The campaign is over already");
    // A campaign that begins at this very moment has given nobody a discount yet, so it is deleted too.
    if (row.starts_at >= now) await trx.deleteFrom("discount_campaigns").where("id", "=", campaignId).execute();
    else await trx.updateTable("discount_campaigns").set({ ends_at: now }).where("id", "=", campaignId).execute();
    await record(trx, clerk, { action: "campaign.ended", reason }, row);
  });
}
