/** Helpers for tests of refunds and disputes: acts at Stripe, and reads of their results. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Wallet } from "#contract/credits/wallet.ts";
import { findPayer } from "#server/db/payer.ts";
import { openWallet } from "#server/features/credits/service.ts";
import type { BillingWorld, Card } from "./billing-stripe.ts";
import type { Person } from "./billing-world.ts";
import { endHold, holdCredits } from "./ledger-calls.ts";

/** Holds credits until `deadline`, as for an answer. Returns the hold's id. */
export async function hold(world: BillingWorld, { userId }: Person, credits: number, deadline: Date): Promise<string> {
  const { db } = world.database;
  const holdId = randomUUID();
  const now = world.clock.now();
  const walletId = await openWallet(db, userId, now);
  await holdCredits(db, { holdId, walletId, credits, kinds: ["plan", "pack"], now, deadline, wallNow: new Date() });
  return holdId;
}

export async function spend(world: BillingWorld, person: Person, credits: number): Promise<void> {
  const holdId = await hold(world, person, credits, new Date(Date.now() + 60_000));
  await endHold(world.database.db, holdId, credits, world.clock.now(), new Date());
}

export async function subscribe(world: BillingWorld, priceId = "starter_month", card?: Card): Promise<Person> {
  const person = await world.person();
  const { url } = await world.checkout(person, priceId);
  await world.pay(url, card);
  await world.settle();
  return person;
}

/** The charge of the person's newest grant of this kind. */
export async function chargeOf(world: BillingWorld, { userId }: Person, kind: "plan" | "pack" = "plan"): Promise<string> {
  const { db } = world.database;
  const { rows } = await sql<{ charge_id: string }>`select charge_id from grants join wallets on wallets.id = wallet_id
    where billing_account_id = ${(await findPayer(db, userId)) ?? ""} and kind = ${kind} order by grants.created_at desc limit 1`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new Error(`no ${kind} grant`);
  return row.charge_id;
}

async function atTheBank(world: BillingWorld, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${world.sandboxUrl}/sandbox/disputes${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<{ id: string }>;
}

export async function openDispute(world: BillingWorld, charge: string, inquiry = false): Promise<string> {
  return (await atTheBank(world, "", { charge, inquiry: String(inquiry) })).id;
}

export async function decideDispute(world: BillingWorld, dispute: string, outcome: "won" | "lost"): Promise<void> {
  await atTheBank(world, `/${dispute}/close`, { outcome });
}

export async function walletOf(world: BillingWorld, { headers }: Person): Promise<Wallet> {
  return (await world.app.inject({ url: "/api/credits/wallet", headers })).json<Wallet>();
}

export async function mailsTo(world: BillingWorld, { email }: Person, ...templates: string[]) {
  const rows = await world.database.db
    .selectFrom("mails")
    .select(["template", "parameters"])
    .where("recipient", "=", email)
    .where("template", "in", templates)
    .orderBy("id")
    .execute();
  return rows.map(({ template, parameters }) => ({ template, ...(parameters as Record<string, unknown>) }));
}
