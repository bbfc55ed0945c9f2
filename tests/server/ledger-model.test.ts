import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { runAgainstModel } from "#tests/support/ledger-run.ts";
import { plantBug } from "#tests/support/planted-bugs.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";

const seeds = full ? 200 : 8;
const operations = 150;
/** A new seed for each run, printed on failure. */
const firstSeed = Number(process.env.TEST_SEED ?? (full ? 1 : Math.floor(Date.now() / 1000) % 1_000_000));

/** Plausible mistakes, each in one of the ledger's functions. */
const plantedBugs: { name: string; function: string; from: string; to: string }[] = [
  {
    name: "held credits counted as available",
    function: "ledger_hold",
    from: "select g.id, g.remaining - g.held as free",
    to: "select g.id, g.remaining as free",
  },
  { name: "expired grants still spent", function: "ledger_hold", from: "and g.expired_at is null and g.expires_at > p_now", to: "" },
  {
    name: "spent latest-expiring first",
    function: "ledger_hold",
    from: "order by g.expires_at, g.id\n    loop\n      taken := least(missing, part.free)",
    to: "order by g.expires_at desc, g.id\n    loop\n      taken := least(missing, part.free)",
  },
  { name: "kinds ignored", function: "ledger_hold", from: "and g.kind = any (p_kinds)", to: "" },
  {
    name: "a grant that expires later taken alone",
    function: "ledger_hold",
    from: "order by f.expires_at,",
    to: "order by f.expires_at desc,",
  },
  { name: "an expired grant taken alone", function: "ledger_hold", from: "and f.expired_at is null and f.expires_at > p_now", to: "" },
  { name: "a grant of another kind taken alone", function: "ledger_hold", from: "and f.kind = any (p_kinds)", to: "" },
  {
    name: "of holds made together, held credits counted as available",
    function: "ledger_hold_many",
    from: "g.remaining - g.held as free",
    to: "g.remaining as free",
  },
  {
    name: "of holds made together, expired grants still spent",
    function: "ledger_hold_many",
    from: "and g.expired_at is null and g.expires_at > ask.now",
    to: "",
  },
  {
    name: "of holds made together, spent latest-expiring first",
    function: "ledger_hold_many",
    from: "order by paying.expires_at, paying.id rows",
    to: "order by paying.expires_at desc, paying.id rows",
  },
  { name: "of holds made together, kinds ignored", function: "ledger_hold_many", from: "and g.kind = any (ask.kinds::text[])", to: "" },
  {
    name: "of holds made together, one that is short made all the same",
    function: "ledger_hold_many",
    from: "having wallet.hold is null or coalesce(sum(paying.amount), 0) <> ask.amount",
    to: "having false",
  },
  {
    name: "a hold of one grant charged whole",
    function: "ledger_settle",
    from: "remaining = g.remaining - p_captured",
    to: "remaining = g.remaining - v_share",
  },
  { name: "a hold ends twice", function: "ledger_settle", from: "if target.state <> 'open' then", to: "if false then" },
  {
    name: "the whole hold charged",
    function: "ledger_settle",
    from: "taken := least(missing, part.open);",
    to: "taken := part.open;",
  },
  {
    name: "released credits of an expired grant kept",
    function: "ledger_settle",
    from: "part.expired_at is not null and freed > 0",
    to: "false",
  },
  {
    name: "a share releases the whole hold",
    function: "ledger_settle",
    from: "freed := greatest(part.open - taken - kept, 0);",
    to: "freed := part.open - taken;",
  },
  {
    name: "a share releases what expires soonest",
    function: "ledger_settle",
    from: "kept := kept - (part.open - taken - freed);",
    to: "",
  },
  {
    name: "a share leaves the credits of its wallet held",
    function: "ledger_settle",
    from: "set held = w.held - v_share, balance",
    to: "set held = w.held - p_captured, balance",
  },
  {
    name: "of shares settled together, a hold of one grant charged whole",
    function: "ledger_settle_many",
    from: "remaining = g.remaining - paid.captured",
    to: "remaining = g.remaining - paid.share",
  },
  {
    name: "of shares settled together, released credits of an expired grant kept",
    function: "ledger_settle_many",
    from: "where g.id = p.grant_id and g.expired_at is null",
    to: "where g.id = p.grant_id",
  },
  {
    name: "of shares settled together, a grant pays that held a part",
    function: "ledger_settle_many",
    from: "where p.hold_id = a.hold and p.amount = a.share offset",
    to: "where p.hold_id = a.hold limit 1 offset",
  },
  {
    name: "of shares settled together, the wallet keeps what was not charged",
    function: "ledger_settle_many",
    from: "set held = w.held - paid.share, balance",
    to: "set held = w.held - paid.captured, balance",
  },
  {
    name: "held credits expire",
    function: "ledger_expire_free",
    from: "free := target.remaining - target.held;",
    to: "free := target.remaining;",
  },
  { name: "debt never repaid", function: "ledger_claw_back", from: "perform ledger_settle_debt(v_wallet, p_now);", to: "" },
  { name: "a new grant leaves debt open", function: "ledger_post_grant", from: "perform ledger_settle_debt(p_wallet, p_now);", to: "" },
  {
    name: "a clawback posts no entry",
    function: "ledger_claw_back",
    from: "(v_transaction, 1, 'wallet', v_wallet, p_grant, -v_taken), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, v_taken)",
    to: "(v_transaction, 1, 'spent', v_wallet, p_grant, -v_taken), (v_transaction, 2, 'clawed_back', v_wallet, p_grant, v_taken)",
  },
  { name: "expired credits clawed back", function: "ledger_claw_back", from: "p_in_all - v_expired -", to: "p_in_all -" },
  {
    name: "earlier clawbacks taken again",
    function: "ledger_claw_back",
    from: "- target.clawed_back, 0);",
    to: ", 0);",
  },
  {
    name: "more given back than was clawed back",
    function: "ledger_restore",
    from: "least(p_credits, target.clawed_back)",
    to: "p_credits",
  },
  {
    name: "what others paid for a failed refund is kept",
    function: "ledger_restore",
    from: "where paid.credits > 0",
    to: "where false",
  },
];

describe("the ledger against a simpler model", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it(`agrees on every figure in ${seeds} seeded runs of ${operations} operations`, async () => {
    for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) await runAgainstModel(database.db, seed, operations);
  }, 600_000);
});

describe("planted bugs", () => {
  it.each(plantedBugs)(
    "are found: $name",
    async (bug) => {
      const database = await createTestDatabase();
      try {
        await plantBug(database, bug.function, (source) => source.replace(bug.from, bug.to));
        const caught = async () => {
          for (let seed = 1; seed <= 6; seed += 1) await runAgainstModel(database.db, seed, operations);
        };
        await expect(caught()).rejects.toThrow(/^seed \d+, after: /);
      } finally {
        await database.drop();
      }
    },
    60_000,
  );
});
