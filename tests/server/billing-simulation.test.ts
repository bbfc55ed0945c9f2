/** Weeks of many people with every fault, from a seed that the failure names. `npm run test:full`: two hundred people for ninety days. */
import { describe, expect, it, test } from "vitest";
import type { Plan } from "#tests/support/billing-simulation.ts";
import { simulateBilling } from "#tests/support/billing-simulation.ts";
import { startBillingWorld } from "#tests/support/billing-stripe.ts";
import { full } from "#tests/support/full.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { runAt } from "#tests/support/postgres.ts";

/** `people` come in addition to those of the scripts. The daily run goes in steps of a day, and is long enough for two renewals of each. */
const [people, days, stepHours, restDays] = full ? [200, 90, 6, 6] : [1, 71, 24, 5];
/** With tax on every other day, and in the long run. */
const taxed = (seed: number) => full || seed % 2 === 1;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Date.now() / 86_400_000));

/** Events that no script causes, so a short run may have none. */
const byChance = ["transfers taken back", "transferred back", "debts"];

/** How often each kind of event happened. A run in which people do nothing would prove nothing. */
async function happenings({ pool }: TestDatabase): Promise<Record<string, number>> {
  const { rows } = await pool.query<Record<string, number>>(
    `select (select count(*)::int from paid_invoices) as payments, (select count(*)::int from grants where kind = 'pack') as packs,
      (select count(*)::int from grants where kind = 'trial') as trials, (select count(*)::int from charge_returns where refunded_cents > 0) as refunds,
      (select count(*)::int from charge_returns where disputed or lost_cents > 0) as disputes,
      (select count(*)::int from subscription_changes where pending_plan_key is not null) as "planned changes",
      (select count(*)::int from subscription_changes where status = 'past_due') as "failed renewals",
      (select count(*)::int from subscription_changes where cancel_at_period_end) as cancellations,
      (select count(*)::int from subscription_changes where status = 'canceled') as ends,
      (select count(*)::int from money_backs where kind = 'guarantee') as "taken back", (select count(*)::int from money_backs where kind = 'withdrawal') as withdrawals,
      (select count(*)::int from money_backs where kind = 'late') as "paid after the end",
      (select count(*)::int from bank_transfers) as transfers, (select count(*)::int from bank_transfers where reversed_at is not null) as "transfers taken back",
      (select count(*)::int from money_backs where returned_reference is not null) as "transferred back",
      (select count(*)::int from invoices where jsonb_array_length(credit_notes) > 0) as credited,
      (select count(*)::int from audit_events where action = 'deletion.asked') as deletions, (select count(*)::int from audit_events where action = 'account.deleted') as erased,
      (select count(*)::int from paid_invoices where billing_reason = 'subscription_cycle') as renewals,
      (select count(*)::int from mails where template = 'payment-recovered') as recoveries,
      (select count(*)::int from mails where template = 'plan-ended' and parameters ->> 'variant' = 'unpaid') as "ends of grace",
      (select count(*)::int from (select from paid_invoices join paid_invoice_lines on invoice_id = paid_invoices.id and plan_key is not null
        group by stripe_subscription_id having count(distinct plan_key) > 1) changed) as "changes that took effect",
      (select count(*)::int from grants where source_key like 'month:%:2') as "third months of a year",
      (select count(*)::int from audit_events where action = 'credits.given') as adjustments,
      (select count(*)::int from audit_events where action = 'refund.asked') as "refunds by the team",
      (select count(*)::int from mails where template = 'refund-failed') as "failed refunds",
      (select count(*)::int from payment_checks) as "payments checked",
      (select count(*)::int from wallets where balance < 0) as debts`,
  );
  return rows[0] ?? {};
}

async function simulate(plan: Plan, plant: (database: TestDatabase) => Promise<void> = async () => {}): Promise<Record<string, number>> {
  const world = await startBillingWorld(plan.taxed ? { STRIPE_TAX: "included" } : {}, new Date("2026-01-29T11:00:00Z"));
  try {
    await plant(world.database);
    await simulateBilling(world, plan);
    const counts = await happenings(world.database);
    process.stdout.write(`seed ${plan.seed}, to its end: ${JSON.stringify(counts)}\n`);
    return counts;
  } catch (error) {
    // Written at once, because an error while closing would hide it.
    process.stdout.write(`${error}\n`);
    throw error;
  } finally {
    await world.close();
  }
}

test(`the people of the scripts and ${people} more for ${days} days: after every act and every day the books agree, and at rest they agree with Stripe's to the credit and the cent (seed ${seed})`, {
  timeout: full ? 3_600_000 : 600_000,
}, async () => {
  const counts = await simulate({ seed, people, days, stepHours, restDays, busyPercent: 50, taxed: taxed(seed) });
  const missing = Object.entries(counts).flatMap(([what, count]) => (count === 0 && (full || !byChance.includes(what)) ? [what] : []));
  expect(missing).toEqual([]);
});

/** A trigger with this body, before every row that is written so. */
const before = (event: string, table: string, body: string) => [
  `create function planted() returns trigger language plpgsql as $$ begin ${body} end $$`,
  `create trigger planted before ${event} on ${table} for each row execute function planted()`,
];

const damages: [name: string, statements: string[]][] = [
  [
    "a month gives one credit too many",
    before("insert", "grants", "if new.kind = 'plan' then new.credits := new.credits + 1; end if; return new;"),
  ],
  ["a year gives eleven months", before("insert", "scheduled_grants", "if new.key like '%:1' then return null; end if; return new;")],
  [
    "an end is not written down",
    before("update", "user_subscriptions", "if new.status <> old.status then return null; end if; return new;"),
  ],
  [
    "a payment is written down in part",
    before("insert", "paid_invoices", "new.amount_paid_cents := new.amount_paid_cents - 1; return new;"),
  ],
  ["a pack is given twice", before("insert", "grants", "if new.kind = 'pack' then new.credits := new.credits * 2; end if; return new;")],
  [
    "less money goes back than credits",
    before("insert", "money_backs", "new.amount_cents := greatest(new.amount_cents - 100, 1); return new;"),
  ],
  [
    "a deleted account goes on paying",
    before("insert", "outbox", "if new.job = 'align-subscription' then return null; end if; return new;"),
  ],
];

describe.runIf(full)("planted damage", () => {
  it.each(damages)("is noticed: %s", { timeout: 600_000 }, async (_name, statements) => {
    const plan = { seed: 5, people: 20, days: 45, stepHours: 6, restDays: 6, busyPercent: 50, taxed: false };
    await expect(simulate(plan, ({ ownerUrl }) => runAt(ownerUrl, statements))).rejects.toThrow(/^seed 5, day \d+, after /);
  });
});
