/** A PostgreSQL server of a test's own, durable as in production, that may be killed with -9 and started again on the same folder. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { createDatabase, createPool } from "#server/db/database.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole, startPostgres } from "#server/embedded/postgres.ts";
import type { Cluster, RunningServer } from "#server/embedded/postgres-server.ts";
import { openCluster, startServer } from "#server/embedded/postgres-server.ts";
import { commandOf, signal, startOf, waitUntil } from "#server/embedded/processes.ts";
import type { TestDatabase } from "./postgres.ts";
import { serverFolderPrefix } from "./postgres.ts";
import { until } from "./until.ts";

const comesBackMs = 30_000;

export interface OwnPostgres {
  /** Its `drop` ends the server and removes the folder. */
  database: TestDatabase;
  /** kill -9 of the postmaster alone; resolves when the rest of the server has noticed and is gone. */
  killPostmaster(): Promise<void>;
  /** kill -9 of everything at once, as when the machine loses its power but not its disk. */
  killAll(): Promise<void>;
  /** kill -9 of one process that serves `applicationName`; PostgreSQL then throws everybody out and recovers by itself. */
  killBackend(applicationName: string): Promise<void>;
  /** Starts the server again on the same folder and port. */
  start(): Promise<void>;
}

async function postmasterOf(cluster: Cluster): Promise<number> {
  return Number((await readFile(path.join(cluster.folder, "postmaster.pid"), "utf8")).split("\n")[0]);
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(
    async () => (await Promise.all(pids.map(commandOf))).every((command) => !command?.startsWith("postgres")),
    "PostgreSQL's processes to end",
    comesBackMs,
  );
}

/** A new process of the killed server's folder has to wait until the last of the old ones has let go of its memory. */
async function startAgain(cluster: Cluster, port: number): Promise<RunningServer> {
  let server: RunningServer | undefined;
  let failure: unknown;
  const attempt = () =>
    startServer(cluster, port).then(
      (started) => {
        server = started;
        return true;
      },
      (error: unknown) => {
        failure = error;
        return false;
      },
    );
  await waitUntil(attempt, comesBackMs, 100);
  if (!server) throw failure;
  return server;
}

/** `settings` as in postgresql.conf, from the server's next start. */
async function prepare(folder: string, settings: Readonly<Record<string, string>>) {
  const first = await startPostgres({ dataDir: folder, log: () => {} });
  try {
    const client = new pg.Client({ connectionString: first.superuserUrl });
    await client.connect();
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = ${client.escapeLiteral(value)}`);
    await client.end();
    await migrate({ ownerUrl: first.ownerUrl, applicationRole });
  } finally {
    await first.stop();
  }
  return first;
}

export async function startOwnPostgres(settings: Readonly<Record<string, string>> = {}): Promise<OwnPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), serverFolderPrefix));
  // What a run that is broken off leaves behind, the next one sweeps.
  await writeFile(path.join(folder, "owner"), `${process.pid} ${await startOf(process.pid)}`);
  const { ownerUrl, applicationUrl, port } = await prepare(folder, settings);
  const cluster = await openCluster(folder, false);
  let server = await startServer(cluster, port);
  const pool = createPool(applicationUrl, 4, "tessera test");
  const db = createDatabase(pool);
  const isUp = () =>
    pool.query("select 1").then(
      () => true,
      () => false,
    );

  async function kill(everything: boolean): Promise<void> {
    const postmaster = await postmasterOf(cluster);
    const { rows } = await pool.query<{ pid: number }>("select pid from pg_stat_activity");
    const children = rows.map(({ pid }) => pid);
    for (const pid of everything ? [postmaster, ...children] : [postmaster]) signal(pid, "SIGKILL");
    await server.exited;
    await untilGone(children);
  }

  return {
    database: {
      db,
      pool,
      ownerUrl,
      applicationUrl,
      async drop() {
        await db.destroy();
        await server.stop();
        await rm(folder, { recursive: true, force: true });
      },
    },
    killPostmaster: () => kill(false),
    killAll: () => kill(true),
    async killBackend(applicationName) {
      const { rows } = await pool.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = $1 order by backend_start limit 1",
        [applicationName],
      );
      const [victim] = rows;
      if (!victim) throw new Error(`nobody is connected as ${applicationName}`);
      signal(victim.pid, "SIGKILL");
      await untilGone([victim.pid]);
      await until(isUp, "PostgreSQL to recover", comesBackMs);
    },
    async start() {
      server = await startAgain(cluster, port);
      await until(isUp, "PostgreSQL to take connections", comesBackMs);
    },
  };
}
