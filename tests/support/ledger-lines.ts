/** What tests read of the lines of the history, as the person, the file and the export of their data have them. */
import { sql } from "kysely";
import type { LedgerLine } from "#contract/credits/ledger.ts";
import type { GrantKind } from "#domain/credits.ts";
import { sections } from "#server/features/own-data/sections.ts";
import type { BillingWorld } from "./billing-stripe.ts";
import type { Person } from "./billing-world.ts";
import { consentTo } from "./consent.ts";
import { payerIdOf } from "./payers.ts";

export async function linesOf(world: BillingWorld, { headers }: Person): Promise<LedgerLine[]> {
  return (await world.app.inject({ url: "/api/credits/ledger", headers })).json<{ lines: LedgerLine[] }>().lines;
}

/** Rows of the file, by the names of its columns. */
export async function fileOf(world: BillingWorld, { headers }: Person): Promise<Record<string, string>[]> {
  const { body } = await world.app.inject({ url: "/api/credits/ledger.csv", headers });
  const [names = [], ...rows] = body
    .replace("\uFEFF", "")
    .trim()
    .split("\r\n")
    .map((row) => row.split(","));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [names[index], cell.replaceAll('"', "")])));
}

/** What the export of one's own data says of this kind of rows. */
export async function exported(world: BillingWorld, { userId }: Person, name: "ledger" | "grants"): Promise<Record<string, unknown>[]> {
  const section = sections.find((candidate) => candidate.name === name);
  if (!section) throw new Error(`no section ${name}`);
  const { rows } = await sql<{ item: Record<string, unknown> }>`select item from (${section.rows(userId)}) r order by key`.execute(
    world.database.db,
  );
  return rows.map(({ item }) => item);
}

/** The person's newest grant of this kind. */
export async function grantOf(world: BillingWorld, { userId }: Person, kind: GrantKind = "plan") {
  const payerId = await payerIdOf(world.database.db, userId);
  const wallets = world.database.db.selectFrom("grants").innerJoin("wallets", "wallets.id", "grants.wallet_id");
  const ofKind = wallets.selectAll("grants").where("billing_account_id", "=", payerId).where("grants.kind", "=", kind);
  return { payerId, ...(await ofKind.orderBy("grants.id", "desc").executeTakeFirstOrThrow()) };
}

export async function buyPack(world: BillingWorld, person: Person, pack: string): Promise<void> {
  const { url } = (await world.post("/api/billing/packs/checkout", person, { pack, consent: consentTo(pack) })).json<{ url: string }>();
  await world.pay(url);
  await world.settle();
}
