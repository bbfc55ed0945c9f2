/** Initialises a PostgreSQL cluster in a folder, starts and stops its server, and stops one that an earlier run left running. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { chown, mkdir, open, readFile, realpath, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { StartError } from "../start-error.ts";
import { BoundedLog } from "./bounded-log.ts";
import type { Identity, Programs } from "./postgres-system.ts";
import { findRunnable } from "./postgres-system.ts";
import { commandOf, folderOf, signal, waitUntil } from "./processes.ts";

const postgresMajor = "18";
export const superuser = "postgres";
const readyTimeoutMs = 60_000;
const fastShutdownMs = 20_000;
const immediateShutdownMs = 5_000;

export interface Cluster {
  /** The folder PostgreSQL calls its data directory. */
  folder: string;
  logFile: string;
  programs: Programs;
  /** The user who runs the programs; undefined for our own user. */
  identity: Identity | undefined;
  /** For tests: faster, but data is lost if the machine crashes. */
  volatile: boolean;
  /** Settings in place of ours, for benchmarks. */
  more: Readonly<Record<string, string>>;
}

export async function openCluster(dataDir: string, volatile: boolean, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const { programs, identity } = await findRunnable();
  return { folder: path.join(dataDir, "postgres"), logFile: path.join(dataDir, "postgres.log"), programs, identity, volatile, more };
}

/**
 * The path of the folder that we give to PostgreSQL. On Linux it is the process's working directory, so that the process needs
 * no access to the folders above, which its user may not have.
 */
function ownFolder(cluster: Cluster): string {
  return process.platform === "linux" ? "/proc/self/cwd" : cluster.folder;
}

function launch(
  cluster: Cluster,
  program: string,
  programArguments: readonly string[],
  stdio: (number | "ignore" | "pipe")[],
): ChildProcess {
  const child = spawn(program, programArguments, {
    // In its own session the server does not get Ctrl-C from the terminal: the processes that use the database must stop first.
    detached: true,
    cwd: cluster.folder,
    stdio,
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
    ...cluster.identity,
  });
  // If the program can't be run, the event `close` follows and reports it.
  child.on("error", () => {});
  return child;
}

async function lastLog(cluster: Cluster): Promise<string> {
  const text = await readFile(cluster.logFile, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => /FATAL|PANIC|error|could not/i.test(line));
  return lines.at(-1)?.trim() ?? "no message";
}

/** Opens a file with the password and deletes its name at once, so that no crash can leave the password on the disk. */
async function openPassword(cluster: Cluster, password: string): Promise<FileHandle> {
  const { identity } = cluster;
  const file = `${cluster.folder}.password`;
  await rm(file, { force: true });
  await writeFile(file, `${password}\n`, { mode: 0o600, flag: "wx" });
  try {
    if (identity) await chown(file, identity.uid, identity.gid);
    return await open(file, "r");
  } finally {
    await rm(file, { force: true });
  }
}

/** Creates the cluster in an empty folder. */
export async function initialise(cluster: Cluster, superuserPassword: string): Promise<void> {
  const { identity } = cluster;
  await mkdir(cluster.folder, { recursive: true, mode: 0o700 });
  if (identity) await chown(cluster.folder, identity.uid, identity.gid);
  const password = await openPassword(cluster, superuserPassword);
  const log = openSync(cluster.logFile, "a", 0o600);
  try {
    const child = launch(
      cluster,
      cluster.programs.initdb,
      [
        `--pgdata=${ownFolder(cluster)}`,
        "--auth=scram-sha-256",
        `--username=${superuser}`,
        "--pwfile=/dev/stdin",
        "--encoding=UTF8",
        // PostgreSQL's own locale: an update of a system library can't change the sort order and corrupt the indexes.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        ...(cluster.volatile ? ["--no-sync"] : []),
      ],
      [password.fd, log, log],
    );
    const code = await new Promise((resolve) => child.once("close", resolve));
    if (code === 0) return;
    const reason = await lastLog(cluster);
    // A container can be started under a user number that has no name.
    if (reason.includes("could not look up effective user ID"))
      throw new StartError(
        `PostgreSQL needs a user with a name, and the user ${process.getuid?.()} has none: add it to /etc/passwd, or start as another user`,
      );
    throw new StartError(`PostgreSQL could not initialise ${cluster.folder}: ${reason}`);
  } finally {
    closeSync(log);
    await password.close();
  }
}

/** Throws StartError if this PostgreSQL can't open the folder as a cluster. */
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

/** Tries a fast shutdown (PostgreSQL rolls back open transactions), then an immediate one, then SIGKILL. Committed data is kept in each case. */
async function end(pid: number, alive: () => Promise<boolean> | boolean): Promise<void> {
  signal(pid, "SIGINT");
  if (await waitUntil(async () => !(await alive()), fastShutdownMs)) return;
  signal(pid, "SIGQUIT");
  if (await waitUntil(async () => !(await alive()), immediateShutdownMs)) return;
  signal(pid, "SIGKILL");
}

async function servesFolder(pid: number, folder: string): Promise<boolean> {
  if (process.platform === "linux") return (await folderOf(pid)) === (await realpath(folder).catch(() => folder));
  return (await commandOf(pid))?.includes(`-D ${folder} `) === true;
}

/** Stops a server that an earlier run left running on this folder. Leaves a process alone that only has the same pid now. */
export async function endLeftover(cluster: Cluster): Promise<boolean> {
  const file = path.join(cluster.folder, "postmaster.pid");
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 1) return false;
  const isOurs = async () => (await commandOf(pid))?.includes("postgres") === true && (await servesFolder(pid, cluster.folder));
  if (await isOurs()) {
    await end(pid, isOurs);
    return true;
  }
  // If a process with the pid in the file exists, PostgreSQL believes that its predecessor still runs, unless the pid is that of
  // its own parent. Then it only checks the shared memory named in the file, which is reliable. So we write our pid.
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
    // Repetitions make guessing a person's password slower. These are 192 random bits, and each connection would pay 8 ms for 4,096.
    scram_iterations: 1,
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "warning",
    // The application logs refused statements itself, together with the request.
    log_min_error_statement: "panic",
    ...(cluster.volatile ? { fsync: "off", full_page_writes: "off", autovacuum_naptime: "10min" } : {}),
    ...cluster.more,
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

export interface RunningServer {
  /** Resolves when the process has ended, for whatever reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

/** Starts the server on 127.0.0.1:`port` and waits until it accepts connections. Throws StartError if it does not. */
export async function startServer(cluster: Cluster, port: number): Promise<RunningServer> {
  const child = launch(
    cluster,
    cluster.programs.postgres,
    ["-D", ownFolder(cluster), ...settings(cluster, port)],
    ["ignore", "pipe", "pipe"],
  );
  const log = new BoundedLog(cluster.logFile);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data: Buffer) => log.write(data));
  let running = true;
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => {
      running = false;
      log.close();
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
    throw new StartError(
      `PostgreSQL does not start on ${cluster.folder}: ${await lastLog(cluster)} (the full log is in ${cluster.logFile})`,
    );
  const stop = () => end(pid, () => running);
  if (!settled) {
    await stop();
    throw new StartError(`PostgreSQL was not ready within ${readyTimeoutMs / 1000} s: see ${cluster.logFile}`);
  }
  return { exited, stop, kill: () => running && signal(pid, "SIGQUIT") };
}
