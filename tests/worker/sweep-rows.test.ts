/** A sweep continues after a row that fails, and stops after an outage. */
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { TakenElsewhere } from "#server/failures.ts";
import { notSetAside, sweepPage, sweepRows } from "#server/queue/sweep-rows.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { createTestDatabase } from "../support/postgres.ts";

let database: TestDatabase;
const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(async () => {
  lines.length = 0;
  await database.db.deleteFrom("sweep_failures").execute();
});

/** Sweeps rows 1 to `count`; the rows in `over` are no longer due. */
function sweep(count: number, work: (row: number) => Promise<boolean>, { over, signal }: { over: Set<number>; signal?: AbortSignal }) {
  const select = async () => {
    const { rows } = await sql<{ row: number }>`
      select row from generate_series(1, ${count}) as row
        where row <> all (${[...over]}::integer[]) and ${notSetAside("scheduled-grants", sql`row::text`)} order by row limit ${sweepPage}`.execute(
      database.db,
    );
    return rows.map(({ row }) => row);
  };
  return sweepRows({ db: database.db, log }, "scheduled-grants", select, String, work, signal);
}

it("rows that stay due although their work succeeded are set aside and logged once, and don't block the rows behind them", async () => {
  const over = new Set<number>();
  const worked: number[] = [];
  const work = async (row: number) => {
    worked.push(row);
    // Every row of the first page stays due.
    if (row > sweepPage) over.add(row);
    return true;
  };
  await sweep(sweepPage + 50, work, { over });
  expect(worked).toHaveLength(sweepPage + 50);
  expect(over.size).toBe(50);
  // The next sweep must not repeat rows that were set aside before their retry is due.
  await sweep(sweepPage + 50, work, { over });
  expect(worked).toHaveLength(sweepPage + 50);
  expect(lines).toHaveLength(sweepPage);
  expect(lines[0]).toContain("the row is still due after its work succeeded");

  await database.db.updateTable("sweep_failures").set({ retry_at: new Date() }).execute();
  await sweep(sweepPage + 50, work, { over });
  expect(worked).toHaveLength(2 * sweepPage + 50);
  expect(lines).toHaveLength(sweepPage);
  const failures = await database.db.selectFrom("sweep_failures").select("failures").distinct().execute();
  expect(failures).toEqual([{ failures: 2 }]);
});

it("a sweep stops at the second outage in a row, and sets no row aside because of outages", async () => {
  const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
  const over = new Set<number>();
  const worked: number[] = [];
  const sweeping = sweep(
    100,
    async (row) => {
      worked.push(row);
      if (row === 2 || row >= 5) throw away;
      over.add(row);
      return true;
    },
    { over },
  );
  await expect(sweeping).rejects.toBe(away);
  expect(worked).toEqual([1, 2, 3, 4, 5, 6]);
  const aside = database.db.selectFrom("sweep_failures").select("subject").where("retry_at", ">", sql<Date>`clock_timestamp()`);
  expect(await aside.execute()).toEqual([]);
});

it("rows at which a service always fails don't hold the others: they come last, and are set aside when it answers for others", async () => {
  const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
  const over = new Set<number>();
  let worked: number[] = [];
  const sweepOnce = async () => {
    worked = [];
    return sweep(
      6,
      async (row) => {
        worked.push(row);
        if (row <= 2) throw away;
        over.add(row);
        return true;
      },
      { over },
    );
  };
  await expect(sweepOnce()).rejects.toBe(away);
  expect(worked).toEqual([1, 2]);
  expect(await sweepOnce()).toBe(4);
  expect(worked).toEqual([3, 4, 5, 6, 1, 2]);
  expect(lines).toHaveLength(2);
  expect(await sweepOnce()).toBe(0);
  expect(worked).toEqual([]);
  // With no other row to compare, the failure may be an outage, so the rows stay due.
  await database.db.updateTable("sweep_failures").set({ retry_at: new Date() }).execute();
  await expect(sweepOnce()).rejects.toBe(away);
  await expect(sweepOnce()).rejects.toBe(away);
  expect(lines).toHaveLength(2);
});

it("rows that another process has are left for the next run, and hold up no others", async () => {
  const over = new Set<number>();
  const taken = new TakenElsewhere("another process has the row");
  const sweeping = sweep(
    6,
    async (row) => {
      if (row <= 3) throw taken;
      over.add(row);
      return true;
    },
    { over },
  );
  await expect(sweeping).rejects.toBe(taken);
  expect([...over]).toEqual([4, 5, 6]);
  expect(await database.db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
});

it("an outage's rows are forgotten once they are done", async () => {
  const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
  const over = new Set<number>();
  let isAway = true;
  const work = async (row: number) => {
    if (isAway) throw away;
    over.add(row);
    return true;
  };
  await expect(sweep(3, work, { over })).rejects.toBe(away);
  isAway = false;
  expect(await sweep(3, work, { over })).toBe(3);
  expect(await database.db.selectFrom("sweep_failures").selectAll().execute()).toEqual([]);
});

it("a sweep starts no further row once the worker is stopping", async () => {
  const stopping = new AbortController();
  const over = new Set<number>();
  const work = async (row: number) => {
    over.add(row);
    if (row === 3) stopping.abort();
    return true;
  };
  expect(await sweep(100, work, { over, signal: stopping.signal })).toBe(3);
});
