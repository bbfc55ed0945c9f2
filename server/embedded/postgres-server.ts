/** One PostgreSQL server process over one cluster folder: initialise, start, end, and end what an earlier run left behind. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { chown, mkdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Programs, Runner } from "./postgres-system.ts";
import { findPrograms, findRunner } from "./postgres-system.ts";
import { commandOf, signal, waitUntil } from "./processes.ts";
import { StartError } from "./start-error.ts";

export const postgresMajor = "18";
export const superuser = "postgres";
const readyTimeoutMs = 60_000;
const fastShutdownMs = 20_000;
const immediateShutdownMs = 5_000;
const logBytesMaximum = 10_000_000;

export interface Cluster {
  /** The folder PostgreSQL calls its data directory. */
  folder: string;
  logFile: string;
  programs: Programs;
  runner: Runner;
  /** Tests only: nothing survives a crash of the machine. */
  volatile: boolean;
}

export async function openCluster(dataDir: string, volatile: boolean): Promise<Cluster> {
  const programs = await findPrograms();
  const runner = await findRunner([dataDir, path.dirname(programs.postgres)]);
  return { folder: path.join(dataDir, "postgres"), logFile: path.join(dataDir, "postgres.log"), programs, runner, volatile };
}

function launch(cluster: Cluster, program: string, programArguments: readonly string[], output: number): ChildProcess {
  const [first = program, ...rest] = [...cluster.runner.prefix, program, ...programArguments];
  // With a prefix it is that program which takes the identity on.
  const identity = cluster.runner.prefix.length === 0 ? cluster.runner.identity : undefined;
  const child = spawn(first, rest, {
    // A session of its own: Ctrl-C in the terminal must reach the processes that use the database first.
    detached: true,
    stdio: ["ignore", output, output],
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
    ...identity,
  });
  // Where the program cannot run at all, `close` follows and says so.
  child.on("error", () => {});
  return child;
}

async function lastLog(cluster: Cluster): Promise<string> {
  const text = await readFile(cluster.logFile, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => /FATAL|PANIC|error|could not/i.test(line));
  return lines.at(-1)?.trim() ?? "no message";
}

/** Creates the cluster in an empty folder. */
export async function initialise(cluster: Cluster, superuserPassword: string): Promise<void> {
  const { identity } = cluster.runner;
  const passwordFile = `${cluster.folder}.password`;
  await mkdir(cluster.folder, { recursive: true, mode: 0o700 });
  await writeFile(passwordFile, `${superuserPassword}\n`, { mode: 0o600 });
  if (identity) await Promise.all([cluster.folder, passwordFile].map((target) => chown(target, identity.uid, identity.gid)));
  const log = openSync(cluster.logFile, "a", 0o600);
  try {
    const child = launch(
      cluster,
      cluster.programs.initdb,
      [
        `--pgdata=${cluster.folder}`,
        "--auth=scram-sha-256",
        `--username=${superuser}`,
        `--pwfile=${passwordFile}`,
        "--encoding=UTF8",
        // Sorting that no system library can change under the indexes.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        ...(cluster.volatile ? ["--no-sync"] : []),
      ],
      log,
    );
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code !== 0) throw new StartError(`PostgreSQL could not initialise ${cluster.folder}: ${await lastLog(cluster)}`);
  } finally {
    closeSync(log);
    await rm(passwordFile, { force: true });
  }
}

/** Throws StartError where the folder is not a cluster this PostgreSQL can open. */
export async function checkCluster(cluster: Cluster): Promise<void> {
  const remedy = "restore it from a backup, or start with another, empty DATA_DIR";
  const version = await readFile(path.join(cluster.folder, "PG_VERSION"), "utf8").catch(() => undefined);
  if (version === undefined) throw new StartError(`DATA_DIR is damaged: ${path.join(cluster.folder, "PG_VERSION")} is missing; ${remedy}`);
  if (version.trim() !== postgresMajor) {
    throw new StartError(
      `DATA_DIR holds a PostgreSQL ${version.trim()} database and this release runs ${postgresMajor}: dump it with its own release, then start with another, empty DATA_DIR`,
    );
  }
}

/** Fast shutdown (open transactions are rolled back, everything committed is kept), then the immediate one. */
async function end(pid: number, alive: () => Promise<boolean> | boolean): Promise<void> {
  signal(pid, "SIGINT");
  if (await waitUntil(async () => !(await alive()), fastShutdownMs)) return;
  signal(pid, "SIGQUIT");
  if (await waitUntil(async () => !(await alive()), immediateShutdownMs)) return;
  signal(pid, "SIGKILL");
}

/** Ends the server an earlier run left behind on this folder. A pid file of somebody else's process confuses nothing. */
export async function endLeftover(cluster: Cluster): Promise<boolean> {
  const file = path.join(cluster.folder, "postmaster.pid");
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const isOurs = async () => {
    const command = await commandOf(pid);
    return command?.includes(`-D ${cluster.folder} `) === true && command.includes("postgres");
  };
  if (await isOurs()) {
    await end(pid, isOurs);
    return true;
  }
  // PostgreSQL would take any live process of that id for its predecessor, except its parent: then it goes by the
  // shared memory named in the file, which is the check that counts.
  if ((await commandOf(pid)) !== undefined) await writeFile(file, [String(process.pid), ...lines.slice(1)].join("\n"));
  return false;
}

function settings(cluster: Cluster, port: number): string[] {
  const values: Record<string, string | number> = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 200,
    shared_buffers: "256MB",
    synchronous_commit: cluster.volatile ? "off" : "on",
    password_encryption: "scram-sha-256",
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    // A refused statement is the application's to report, with the request it belongs to.
    log_min_error_statement: "panic",
    ...(cluster.volatile ? { fsync: "off", full_page_writes: "off", autovacuum_naptime: "10min" } : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

export interface RunningServer {
  /** Resolves when the process has gone, whatever the reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

/** Starts the server on 127.0.0.1:`port` and waits until it takes connections. Throws StartError where it does not. */
export async function startServer(cluster: Cluster, port: number): Promise<RunningServer> {
  const known = await stat(cluster.logFile).catch(() => undefined);
  if (known && known.size > logBytesMaximum) await truncate(cluster.logFile);
  const log = openSync(cluster.logFile, "a", 0o600);
  const child = launch(cluster, cluster.programs.postgres, ["-D", cluster.folder, ...settings(cluster, port)], log);
  closeSync(log);
  let running = true;
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => {
      running = false;
      resolve();
    });
  });
  const { pid } = child;
  const statusLine = 7;
  const isReady = async () => {
    const lines = (await readFile(path.join(cluster.folder, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return Number(lines[0]) === pid && lines[statusLine]?.trim() === "ready";
  };
  const settled = await waitUntil(async () => !running || (await isReady()), readyTimeoutMs, 10);
  if (!running || pid === undefined)
    throw new StartError(`PostgreSQL does not start on ${cluster.folder}: ${await lastLog(cluster)} (all of it in ${cluster.logFile})`);
  const stop = () => end(pid, () => running);
  if (!settled) {
    await stop();
    throw new StartError(`PostgreSQL was not ready within ${readyTimeoutMs / 1000} s: see ${cluster.logFile}`);
  }
  return { exited, stop, kill: () => running && signal(pid, "SIGQUIT") };
}
