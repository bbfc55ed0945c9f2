import { expect } from "vitest";
import { waitUntil } from "#server/embedded/processes.ts";
import { findDisagreements } from "#server/features/credits/service.ts";
import type { TestDatabase } from "./postgres.ts";

/** Waits until every event is processed, every job is done, every answer has ended and every hold is closed. */
export async function waitUntilSettled({ pool }: Pick<TestDatabase, "pool">, timeoutMs = 90_000): Promise<void> {
  let left: unknown;
  const settled = async () => {
    const { rows } = await pool.query<Record<string, number>>(
      `select (select count(*) from stripe_events where status = 'received') as events, (select count(*) from outbox) as jobs,
        (select count(*) from generations where status = 'streaming') as answers, (select count(*) from holds where state = 'open') as holds`,
    );
    left = rows[0];
    return Object.values(rows[0] ?? { none: 1 }).every((count) => count === 0);
  };
  if (!(await waitUntil(settled, timeoutMs, 50))) throw new Error(`not settled in time: ${JSON.stringify(left)}`);
}

/** Checks the ledger's invariants, that each answer's charge matches its ledger entry, and that there are no dead letters. */
export async function expectBooksAgree(database: Pick<TestDatabase, "db" | "pool">): Promise<void> {
  expect(await findDisagreements(database.db)).toEqual([]);
  const overdrawn = await database.db.selectFrom("wallets").select("id").whereRef("balance", "<", "held").execute();
  expect(overdrawn).toEqual([]);
  const dead = await database.db.selectFrom("dead_letters").select(["job", "error"]).execute();
  expect(dead).toEqual([]);
  const { rows: charges } = await database.pool.query(
    `select g.id, g.status, g.charged_credits, coalesce(sum(e.amount), 0) as posted from generations g
       left join ledger_transactions t on t.key = 'capture:' || g.id left join ledger_entries e on e.transaction_id = t.id and e.account = 'spent'
     group by g.id having g.charged_credits is distinct from coalesce(sum(e.amount), 0)`,
  );
  expect(charges).toEqual([]);
}
