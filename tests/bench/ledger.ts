/**
 * Compares hold + capture through the service with the same SQL in pgbench, and that SQL with the bare minimum that is still correct: on
 * the same server, with the same number of clients, in turns. The first shows what our code costs on top of PostgreSQL, the second what
 * the ledger's rules cost: history, grants, keys, and that PostgreSQL checks them itself.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { createDatabase, createPool } from "#server/db/database.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { endHold, holdCredits } from "../support/ledger-calls.ts";
import type { BenchServer, Ratio } from "./support.ts";
import { median } from "./support.ts";

const clients = 8;
const people = 1_000;
const seconds = 5;
const rounds = 5;

/** A conditional update and an insert to hold; two updates and two entries to capture. */
const minimumTables = `
  create table minimum_wallets (id integer primary key, balance bigint not null, held bigint not null);
  insert into minimum_wallets select n, 1000000, 0 from generate_series(1, ${people}) n;
  create table minimum_holds (id bigint primary key, wallet integer not null, amount integer not null, state text not null);
  create table minimum_entries (id bigserial primary key, wallet integer not null, amount integer not null, hold bigint not null);
  grant all on minimum_wallets, minimum_holds, minimum_entries, minimum_entries_id_seq to ${applicationRole}`;
const minimumScript = `\\set person random(1, ${people})
\\set hold random(1, 9000000000000000000)
begin;
update minimum_wallets set held = held + 1 where id = :person and balance - held >= 1;
insert into minimum_holds values (:hold, :person, 1, 'open');
end;
begin;
update minimum_wallets set held = held - 1, balance = balance - 1 where id = :person;
update minimum_holds set state = 'captured' where id = :hold;
insert into minimum_entries (wallet, amount, hold) values (:person, -1, :hold), (:person, 1, :hold);
end;
`;

/** The wallets' ids are this prefix and a number, so that pgbench can compute them. */
const walletPrefix = "00000000-0000-7000-8000-";

async function createWallets(server: BenchServer): Promise<string[]> {
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  owner.on("error", () => {});
  await owner.connect();
  await owner.query(
    `with numbers as (select '${walletPrefix}' || lpad(to_hex(n), 12, '0') as id from generate_series(1, ${people}) n),
       payers as (insert into billing_accounts (id, created_at) select id::uuid, now() from numbers returning id)
     insert into wallets (id, billing_account_id, created_at) select id, id, now() from payers`,
  );
  const { rows } = await owner.query<{ id: string }>("select id from wallets");
  for (const { id } of rows) {
    await owner.query(
      "select ledger_post_grant($1::uuid, 'adjustment', 1000000, now() + interval '1 year', 'bench:' || ($1::uuid)::text, now())",
      [id],
    );
  }
  await owner.query(minimumTables);
  await owner.query("analyze");
  await owner.end();
  return rows.map((row) => row.id);
}

async function serviceRate(server: BenchServer, walletIds: readonly string[]): Promise<number> {
  const pool = createPool(server.applicationUrl, clients, "bench");
  const db = createDatabase(pool);
  const until = performance.now() + seconds * 1_000;
  const deadline = new Date(Date.now() + 3_600_000);
  let done = 0;
  const client = async () => {
    while (performance.now() < until) {
      const holdId = randomUUID();
      const now = new Date();
      const walletId = walletIds[Math.floor(Math.random() * walletIds.length)] ?? "";
      await holdCredits(db, { holdId, walletId, credits: 1, kinds: ["plan", "adjustment", "pack", "trial"], now, deadline, wallNow: now });
      await endHold(db, holdId, 1, now, now);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await db.destroy();
  return done / seconds;
}

async function pgbenchRate(server: BenchServer, script: string): Promise<number> {
  const url = new URL(server.applicationUrl);
  const { stdout } = await promisify(execFile)(
    "pgbench",
    [
      "-n",
      "-M",
      "prepared",
      "-c",
      String(clients),
      "-j",
      "1",
      "-T",
      String(seconds),
      "-f",
      script,
      "-h",
      url.hostname,
      "-p",
      url.port,
      "-U",
      url.username,
      url.pathname.slice(1),
    ],
    { env: { ...process.env, PGPASSWORD: decodeURIComponent(url.password) } },
  );
  const rate = /tps = ([\d.]+)/.exec(stdout)?.[1];
  if (rate === undefined) throw new Error(`pgbench said: ${stdout}`);
  return Number(rate);
}

export async function benchLedger(server: BenchServer): Promise<Ratio[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-pgbench-"));
  try {
    const walletIds = await createWallets(server);
    const script = path.join(folder, "hold-capture.sql");
    await writeFile(
      script,
      `\\set person random(1, ${people})
\\set hold random(1, 9000000000000000000)
select * from ledger_hold(lpad(to_hex(:hold::bigint), 32, '0')::uuid, ('${walletPrefix}' || lpad(to_hex(:person::bigint), 12, '0'))::uuid, 1, '{plan,adjustment,pack,trial}', now(), now() + interval '1 hour', now());
select * from ledger_end_hold(lpad(to_hex(:hold::bigint), 32, '0')::uuid, 1, 'capture:' || :hold::text, now(), now());
`,
    );
    const minimum = path.join(folder, "minimum.sql");
    await writeFile(minimum, minimumScript);
    const service: number[] = [];
    const bare: number[] = [];
    const least: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      least.push(await pgbenchRate(server, minimum));
      bare.push(await pgbenchRate(server, script));
      service.push(await serviceRate(server, walletIds));
    }
    return [
      { name: "hold + capture: service against pgbench", ours: median(service), theirs: median(bare), unit: "pairs/s", target: 0.8 },
      { name: "hold + capture: our SQL against the bare minimum", ours: median(bare), theirs: median(least), unit: "pairs/s", target: 0.5 },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
