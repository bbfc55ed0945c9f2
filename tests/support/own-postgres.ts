/** Starts a durable PostgreSQL server for one test, which the test can kill with -9 and restart on the same folder. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { inject } from "vitest";
import { createDatabase, createPool } from "#server/db/database.ts";
import { address, applicationRole, databaseName, ownerRole } from "#server/embedded/postgres.ts";
import type { Cluster, RunningServer } from "#server/embedded/postgres-server.ts";
import { openCluster, startServer } from "#server/embedded/postgres-server.ts";
import { commandOf, freePort, signal, startOf, waitUntil } from "#server/embedded/processes.ts";
import type { Secrets } from "#server/embedded/secrets.ts";
import { readSecrets } from "#server/embedded/secrets.ts";
import type { TestDatabase } from "./postgres.ts";
import { copyCluster, runAt, serverFolderPrefix } from "./postgres.ts";
import { until } from "./until.ts";

const comesBackMs = 60_000;
const writers = ["walwriter", "background writer", "checkpointer", "autovacuum launcher"];

export interface OwnPostgres {
  /** `drop` stops the server and removes the folder. */
  database: TestDatabase;
  /** Kills the postmaster with -9; resolves when its child processes have noticed and ended. */
  killPostmaster(): Promise<void>;
  /** Kills all of the server's processes with -9 at once; what was only in PostgreSQL's memory is lost. */
  killAll(): Promise<void>;
  /** Kills one backend of `applicationName` with -9; PostgreSQL then closes all connections and recovers by itself. */
  killBackend(applicationName: string): Promise<void>;
  /** Stops every process that writes by itself: what is committed asynchronously stays in memory until another commit flushes it. */
  holdWriters(): Promise<void>;
  /** Stops all of the server's processes (SIGSTOP): connections stay open but nothing answers until `thaw`. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Starts the server again on the same folder and port. */
  start(): Promise<void>;
}

async function postmasterOf(cluster: Cluster): Promise<number> {
  return Number((await readFile(path.join(cluster.folder, "postmaster.pid"), "utf8")).split("\n")[0]);
}

async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

async function childrenOf(postmaster: number): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_pid, index) => parents[index] === postmaster);
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(
    async () => (await Promise.all(pids.map(commandOf))).every((command) => !command?.startsWith("postgres")),
    "PostgreSQL's processes to end",
    comesBackMs,
  );
}

/** Retries the start: PostgreSQL refuses it until the last process of the killed server has released its shared memory. */
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

/** Copies the prepared server of this test run. */
async function prepare(folder: string): Promise<{ secrets: Secrets; cluster: Cluster }> {
  await copyCluster(inject("postgres").preparedFolder, folder);
  const [secrets, cluster] = await Promise.all([readSecrets(folder), openCluster(folder, false)]);
  if (!secrets) throw new Error("the prepared server has no secrets");
  return { secrets, cluster };
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), serverFolderPrefix));
  // If this test run is aborted, the next one finds the folder by this file and removes it.
  await writeFile(path.join(folder, "owner"), `${process.pid} ${await startOf(process.pid)}`);
  const [{ secrets, cluster }, port] = await Promise.all([prepare(folder), freePort()]);
  const ownerUrl = address(ownerRole, secrets.ownerPassword, port, databaseName);
  const applicationUrl = address(applicationRole, secrets.applicationPassword, port, databaseName);
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

  let frozen: number[] = [];
  const thaw = () => {
    for (const pid of frozen.splice(0)) signal(pid, "SIGCONT");
  };

  return {
    thaw,
    async holdWriters() {
      const children = await childrenOf(await postmasterOf(cluster));
      const commands = await Promise.all(children.map(commandOf));
      // A page written by the background writer or the checkpointer takes the WAL before it to the disk; so does an autovacuum's commit.
      frozen = children.filter((_pid, index) => writers.some((name) => commands[index]?.startsWith(`postgres: ${name}`)));
      if (frozen.length !== writers.length) throw new Error(`not all of ${writers.join(", ")} are among ${commands.join(", ")}`);
      for (const pid of frozen) signal(pid, "SIGSTOP");
    },
    async freeze() {
      const postmaster = await postmasterOf(cluster);
      // The postmaster first, so that it starts no new processes.
      signal(postmaster, "SIGSTOP");
      frozen = [postmaster, ...(await childrenOf(postmaster))];
      for (const pid of frozen) signal(pid, "SIGSTOP");
    },
    database: {
      db,
      pool,
      ownerUrl,
      applicationUrl,
      asOwner: (...statements) => runAt(ownerUrl, statements),
      async drop() {
        thaw();
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
