/** Weeks of many people with every fault, from a seed that the failure names. `npm run test:full`: two hundred people for ninety days. */
import { describe, expect, it, test } from "vitest";
import type { Plan } from "#tests/support/billing-simulation.ts";
import { simulateBilling } from "#tests/support/billing-simulation.ts";
import { startBillingWorld } from "#tests/support/billing-stripe.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { runAt } from "#tests/support/postgres.ts";

const full = process.env.TEST_FULL === "1";
const [people, days] = full ? [200, 90] : [8, 36];
const seed = Number(process.env.TEST_SEED ?? Math.floor(Date.now() / 86_400_000));

async function simulate(plan: Plan, plant: (database: TestDatabase) => Promise<void> = async () => {}): Promise<void> {
  const world = await startBillingWorld({}, new Date("2026-01-29T11:00:00Z"));
  try {
    await plant(world.database);
    await simulateBilling(world, plan);
  } finally {
    await world.close();
  }
}

test(
  `${people} people for ${days} days: every day the books agree, and at rest they agree with Stripe's to the credit and the cent (seed ${seed})`,
  { timeout: full ? 3_600_000 : 180_000 },
  () => simulate({ seed, people, days, busyPercent: 50 }),
);

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
];

describe.runIf(full)("planted damage", () => {
  it.each(damages)("is noticed: %s", { timeout: 600_000 }, async (_name, statements) => {
    const plan = { seed: 5, people: 20, days: 45, busyPercent: 50 };
    await expect(simulate(plan, ({ ownerUrl }) => runAt(ownerUrl, statements))).rejects.toThrow(/^seed 5, day \d+, after /);
  });
});
