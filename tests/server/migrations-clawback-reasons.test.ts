/** What was taken back before reasons stood on the ledger's transactions gets one from its key, and from what was asked back of the payment. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MigrationSteps } from "#tests/support/migration-steps.ts";
import { stepsOver } from "#tests/support/migration-steps.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

let { owner, goUp, goBack, close } = {} as MigrationSteps;
beforeAll(async () => {
  ({ owner, goUp, goBack, close } = await stepsOver("0111_clawback_reasons", await createTestDatabase()));
});
afterAll(() => close());

/** One row's first column. */
async function firstOf<T>(text: string, ...values: unknown[]): Promise<T> {
  const { rows } = await owner.query<T[]>({ text, values, rowMode: "array" });
  return rows[0]?.[0] as T;
}

interface Earlier {
  /** The key's text in front of the grant's id. */
  key: string;
  after?: string;
  /** Of `money_backs`. */
  asked?: "guarantee" | "withdrawal" | "late";
  /** Of `charge_returns`: cents that were refunded and lost. */
  returned?: [number, number];
  becomes: string;
}

const earlier: Earlier[] = [
  { key: "clawback:refund:", after: ":1", becomes: "refund" },
  { key: "clawback:dispute:", after: ":1", becomes: "dispute" },
  { key: "clawback:returned:", after: ":1", becomes: "payment_returned" },
  { key: "clawback:asked:", asked: "guarantee", becomes: "guarantee" },
  { key: "clawback:asked:", asked: "withdrawal", becomes: "withdrawal" },
  { key: "clawback:asked:", asked: "late", becomes: "late_payment" },
  { key: "clawback:asked:", becomes: "other" },
  { key: "clawback:transfer:", becomes: "transfer_reversed" },
  { key: "clawback:doubled:", becomes: "duplicate" },
  { key: "adjustment-taken:", becomes: "taken_by_team" },
  { key: "clawback:", after: ":1", returned: [400, 0], becomes: "refund" },
  { key: "clawback:", after: ":1", returned: [0, 400], becomes: "dispute" },
  { key: "clawback:", after: ":1", returned: [200, 200], becomes: "payment_returned" },
  { key: "clawback:", after: ":1", becomes: "payment_returned" },
  { key: "unknown:", becomes: "other" },
];

/** Posts a grant of an account of its own and takes 40 of it, as the release before did. Returns the key it was taken under. */
async function take({ key, after = "", asked, returned }: Earlier): Promise<string> {
  const userId = randomUUID();
  await owner.query("insert into users (id, created_at) values ($1, now())", [userId]);
  const payer = await firstOf<string>("select payer_of($1)", userId);
  const wallet = await firstOf("insert into wallets (billing_account_id, created_at) values ($1, now()) returning id", payer);
  const charge = `ch_${userId}`;
  const grant = await firstOf<string>(
    "select grant_id from ledger_post_grant($1, 'plan', 100, '2030-01-01', $2, now(), 'in_1', 'il_1', $3, null, null)",
    wallet,
    `grant:${userId}`,
    charge,
  );
  if (asked)
    await owner.query(
      "insert into money_backs (billing_account_id, invoice_id, charge_id, kind, amount_cents, asked_at) values ($1, 'in_1', $2, $3, 400, now())",
      [payer, charge, asked],
    );
  if (returned)
    await owner.query(
      `insert into charge_returns (charge_id, billing_account_id, paid_cents, refunded_cents, lost_cents, disputed, version, recorded_at)
        values ($1, $2, 1999, $3, $4, false, 1, now())`,
      [charge, payer, ...returned],
    );
  const posted = `${key}${grant}${after}`;
  expect(await firstOf("select taken from ledger_claw_back($1, 40, $2, now())", grant, posted)).toBe(40);
  return posted;
}

const reasonOf = (key: string) => firstOf<string>("select reason from ledger_transactions where key = $1", key);

async function reasonsOf(keys: readonly string[]): Promise<string[]> {
  const reasons: string[] = [];
  for (const key of keys) reasons.push(await reasonOf(key));
  return reasons;
}

test("each earlier key becomes the reason that the history read from it; books and append-only rule hold, and the way down forgets only the reasons", async () => {
  await goBack();
  const keys: string[] = [];
  for (const one of earlier) keys.push(await take(one));
  await goUp();
  expect(await reasonsOf(keys)).toEqual(earlier.map(({ becomes }) => becomes));
  expect(await firstOf("select count(*)::integer from ledger_transactions where kind <> 'clawback' and reason is not null")).toBe(0);
  expect((await owner.query("select * from ledger_disagreements()")).rows).toEqual([]);
  await expect(owner.query("update ledger_transactions set reason = 'refund'")).rejects.toThrow("append-only");
  await goBack();
  expect(await firstOf("select count(*)::integer from ledger_transactions where kind = 'clawback'")).toBe(earlier.length);
  await goUp();
  expect(await reasonsOf(keys)).toEqual(earlier.map(({ becomes }) => becomes));
});

test("a process of the release before takes credits without a reason, and no other transaction may have one", async () => {
  const posted = await take({ key: "clawback:refund:", becomes: "other" });
  expect(await reasonOf(posted)).toBe("other");
  const planted = (kind: string, reason: string | null) =>
    owner.query(
      "insert into ledger_transactions (key, kind, wallet_id, content, occurred_at, reason) select $1, $2, id, '{}', now(), $3 from wallets limit 1",
      [randomUUID(), kind, reason],
    );
  for (const [kind, reason] of [
    ["clawback", null],
    ["clawback", "a whim"],
    ["grant", "refund"],
  ] as const)
    await expect(planted(kind, reason)).rejects.toThrow("ledger_transactions_sound");
});
