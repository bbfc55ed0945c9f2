/**
 * Compares holds and captures at three depths on one server, with the same number of clients, in turns: the service as the product calls it
 * (the start and the end of an answer) with the same SQL in pgbench, and the ledger's part of that SQL with the bare minimum that is still
 * correct. The first shows what our code costs on top of PostgreSQL, the second what the ledger's rules cost: history, grants, keys, and
 * that PostgreSQL checks them itself.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { apiPoolSize } from "#server/config.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { startConnections } from "#server/deps.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { createAnswerBatches } from "#server/features/generations/batches.ts";
import { answered, answersScript, askedBy } from "./ledger-answers.ts";
import type { BenchServer, Ratio } from "./support.ts";
import { median, report } from "./support.ts";

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

/** The ids of people and their wallets are this prefix and a number, so that pgbench can compute them. */
const idPrefix = "00000000-0000-7000-8000-";
const idOf = (number: number) => idPrefix + number.toString(16).padStart(12, "0");
const idInSql = (number: string) => `('${idPrefix}' || lpad(to_hex(${number}), 12, '0'))`;

/** How many statements with starts, or with ends, run at once (batches.ts). With eight clients most have three to five. */
const serviceStatements = 2;

/** Each client, of the service or of pgbench, uses people of its own, because a shared statement leaves out people who are locked. */
const peopleOfClient = people / clients;

/** Fails if the product no longer calls the functions of these scripts, which pgbench would go on measuring. */
async function expectCalled(owner: pg.Client): Promise<void> {
  for (const [caller, called] of [
    ["answers_start", "ledger_hold_many"],
    ["answers_end", "ledger_settle_many"],
  ]) {
    const { rows } = await owner.query("select from pg_proc where proname = $1 and strpos(prosrc, $2) > 0", [caller, called]);
    if (rows.length !== 1) throw new Error(`${caller} does not call ${called}, which this measures`);
  }
}

async function createPeople(server: BenchServer): Promise<void> {
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  owner.on("error", () => {});
  await owner.connect();
  await expectCalled(owner);
  await owner.query(
    `insert into users (id, name, created_at) select ${idInSql("n")}::uuid, 'Person', now() from generate_series(1, ${people}) n`,
  );
  // PostgreSQL opens a billing account with each person.
  await owner.query(
    "insert into wallets (id, billing_account_id, created_at) select user_id, billing_account_id, now() from billing_account_members",
  );
  await owner.query("select ledger_post_grant(id, 'adjustment', 1000000, now() + interval '1 year', 'bench:' || id, now()) from wallets");
  await owner.query(minimumTables);
  await owner.query("analyze");
  await owner.end();
}

/** How many answers a second are started and ended through the service. Throws if one of them was not. */
async function serviceRate(server: BenchServer): Promise<number> {
  const db = createDatabase(createPool(server.applicationUrl, apiPoolSize, "bench"));
  const starts = createDatabase(createPool(server.applicationUrl, startConnections, "bench starts", startConnections));
  const answers = createAnswerBatches(db, starts);
  const until = performance.now() + seconds * 1_000;
  let done = 0;
  const client = async (_: unknown, number: number) => {
    while (performance.now() < until) {
      const start = askedBy(idOf(1 + number * peopleOfClient + Math.floor(Math.random() * peopleOfClient)));
      const { outcome } = await answers.start(start);
      const ended = await answers.end(answered(start));
      if (outcome !== "created" || ended?.charged_credits !== 1) throw new Error(`an answer was ${outcome} and ${ended?.status}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await Promise.all([db.destroy(), starts.destroy()]);
  return done / seconds;
}

/** Holds and their captures as `answers_start` and `answers_end` call them, for so many people at once. */
function ledgerScript(count: number): string {
  const each = (write: (place: number) => string) => `array[${Array.from({ length: count }, (_, place) => write(place)).join(", ")}]`;
  const hold = (place: number) => `lpad(to_hex(:hold::bigint + ${place}), 32, '0')::uuid`;
  const holds = each(hold);
  const wallets = each((place) => `${idInSql(`1 + (:person::integer + ${place}) % ${people}`)}::uuid`);
  const [credits, now] = [each(() => "1::bigint"), each(() => "now()")];
  const kinds = each(() => "'{plan,adjustment,pack,trial}'");
  return `\\set person random(0, ${people - 1})
\\set hold random(1, 9000000000000000000)
select ledger_hold_many(${holds}, ${wallets}, ${credits}, ${kinds}, ${now}, ${each(() => "now() + interval '1 hour'")}, now());
select * from ledger_settle_many(${holds}, ${credits}, ${credits}, ${each((place) => `'capture:' || ${hold(place)}`)}, ${now}, now());
`;
}

async function pgbenchRate(server: BenchServer, script: string, connections = clients): Promise<number> {
  const url = new URL(server.applicationUrl);
  const { stdout } = await promisify(execFile)(
    "pgbench",
    [
      "-n",
      "-M",
      "prepared",
      "-c",
      String(connections),
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

/** The script for `count` people in each statement. The connections of pgbench use different people. */
function answersScriptFor(count: number): Promise<string> {
  const preamble = `\\set person 1 + :client_id * ${peopleOfClient * count} + random(0, ${peopleOfClient - 1})`;
  return answersScript(
    preamble,
    Array.from({ length: count }, (_, place) => idInSql(`:person::integer + ${place * peopleOfClient}`)),
  );
}

export interface LedgerFigures {
  ratios: Ratio[];
  /** Pairs a second if statements are shared: answers by the service and by pgbench, and the ledger's part by pgbench. */
  shared: { service: number; answers: number; ledger: number };
}

const inStatement = clients / serviceStatements;

export async function benchLedger(server: BenchServer): Promise<LedgerFigures> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-pgbench-"));
  const script = async (name: string, text: string) => {
    const file = path.join(folder, `${name}.sql`);
    await writeFile(file, text);
    return file;
  };
  try {
    await createPeople(server);
    const minimum = await script("minimum", minimumScript);
    const ledger = await script("ledger", ledgerScript(1));
    const ledgerShared = await script("ledger-shared", ledgerScript(inStatement));
    const answers = await script("answers", await answersScriptFor(1));
    const answersShared = await script("answers-shared", await answersScriptFor(inStatement));
    const measures = {
      minimum: () => pgbenchRate(server, minimum),
      ledger: () => pgbenchRate(server, ledger),
      ledgerShared: async () => inStatement * (await pgbenchRate(server, ledgerShared, serviceStatements)),
      answers: () => pgbenchRate(server, answers),
      service: () => serviceRate(server),
      answersShared: async () => inStatement * (await pgbenchRate(server, answersShared, serviceStatements)),
    };
    const rates = new Map<keyof typeof measures, number[]>();
    for (let round = 0; round < rounds; round += 1)
      for (const [name, measure] of Object.entries(measures) as [keyof typeof measures, () => Promise<number>][])
        rates.set(name, [...(rates.get(name) ?? []), await measure()]);
    const rate = (name: keyof typeof measures) => median(rates.get(name) ?? []);
    const ratio = (name: string, ours: number, theirs: number, target: number) => ({ name, ours, theirs, unit: "pairs/s", target });
    return {
      ratios: [
        ratio("hold + capture by start and end of an answer: service against pgbench", rate("service"), rate("answers"), 0.8),
        ratio("hold + capture: our SQL against the bare minimum", rate("ledger"), rate("minimum"), 0.5),
      ],
      shared: { service: rate("service"), answers: rate("answersShared"), ledger: rate("ledgerShared") },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function reportLedger({ ratios, shared }: LedgerFigures): void {
  for (const ratio of ratios) report(ratio);
  const { service, answers, ledger } = shared;
  // The service's clients share statements, pgbench's do not. This shows how much of the service's lead remains if pgbench shares too.
  console.log(
    `hold + capture with ${inStatement} in each of pgbench's statements, ${serviceStatements} at once, as the service has them: ` +
      `start and end ${answers.toFixed(1)} pairs/s (service: ${(service / answers).toFixed(2)} of it); our SQL alone ${ledger.toFixed(1)} pairs/s`,
  );
}
