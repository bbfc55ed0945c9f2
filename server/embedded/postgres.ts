/**
 * The PostgreSQL that `npm start` runs: initialised once in DATA_DIR, and restarted after a crash. It has two roles: the owner
 * migrates, and the application's role has only the rights that the migrator grants it.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { StartError } from "../start-error.ts";
import type { Cluster, RunningServer } from "./postgres-server.ts";
import { checkCluster, endLeftover, initialise, openCluster, startServer, superuser } from "./postgres-server.ts";
import { freePort } from "./processes.ts";
import type { Secrets } from "./secrets.ts";
import { createSecrets, readSecrets } from "./secrets.ts";

export const databaseName = "tessera";
export const ownerRole = "tessera_owner";
export const applicationRole = "tessera_app";
const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
const steadyAfterMs = 30_000;

export interface EmbeddedPostgres {
  ownerUrl: string;
  applicationUrl: string;
  /** For tests, which create databases. */
  superuserUrl: string;
  port: number;
  secrets: Secrets;
  /** True if this start initialised the cluster. */
  created: boolean;
  stop(): Promise<void>;
  /** Ends the server at once. The next start recovers all committed data. */
  kill(): void;
}

/** The file says "initialising" or "initialised". It distinguishes an interrupted first start from a damaged data folder. */
function statePath(dataDir: string): string {
  return path.join(dataDir, "postgres.state");
}

async function exists(target: string): Promise<boolean> {
  return stat(target).then(
    () => true,
    () => false,
  );
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true });
    await readdir(dataDir);
  } catch (error) {
    throw new StartError(
      `DATA_DIR=${dataDir} cannot be used (${(error as NodeJS.ErrnoException).code}): name a folder that can be written to`,
    );
  }
}

/** Initialises the cluster, or checks an existing one, and returns its secrets. */
async function prepareCluster(cluster: Cluster, dataDir: string): Promise<{ secrets: Secrets; created: boolean }> {
  const secrets = await readSecrets(dataDir);
  const state = await readFile(statePath(dataDir), "utf8").catch(() => "");
  if (state.trim() === "initialised" || (state === "" && (await exists(cluster.folder)))) {
    if (!secrets) {
      const file = path.join(dataDir, "secrets.json");
      throw new StartError(`DATA_DIR is damaged: ${file} is missing; restore it from a backup, or start with another, empty DATA_DIR`);
    }
    await checkCluster(cluster);
    await endLeftover(cluster);
    return { secrets, created: false };
  }
  // A cluster whose first initialisation did not finish contains no data yet, so it can be deleted.
  await writeFile(statePath(dataDir), "initialising\n");
  await endLeftover(cluster);
  await rm(cluster.folder, { recursive: true, force: true });
  const known = secrets ?? (await createSecrets(dataDir));
  await initialise(cluster, known.superuserPassword);
  return { secrets: known, created: true };
}

export function address(role: string, password: string, port: number, database: string): string {
  return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

async function createRoles(superuserUrl: string, secrets: Secrets): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const login = (password: string) =>
      `login nosuperuser nocreaterole nocreatedb noreplication nobypassrls password ${client.escapeLiteral(password)}`;
    await client.query(`create role ${ownerRole} ${login(secrets.ownerPassword)}`);
    await client.query(`create role ${applicationRole} ${login(secrets.applicationPassword)}`);
    await client.query(`create database ${databaseName} owner ${ownerRole}`);
    await client.query(`revoke all on database ${databaseName} from public`);
    await client.query(`grant connect on database ${databaseName} to ${applicationRole}`);
  } finally {
    await client.end();
  }
}

/** Restarts the server on the same port whenever it ends without being stopped. */
function keepRunning(
  cluster: Cluster,
  port: number,
  first: RunningServer,
  log: (line: string) => void,
): Pick<EmbeddedPostgres, "stop" | "kill"> {
  let stopping = false;
  let current: RunningServer | undefined = first;
  const stopped = new AbortController();
  const watch = async () => {
    let backoffMs = firstBackoffMs;
    while (!stopping) {
      const startedAt = performance.now();
      await current?.exited;
      if (stopping) return;
      if (current && performance.now() - startedAt > steadyAfterMs) backoffMs = firstBackoffMs;
      log(`PostgreSQL has ended unexpectedly; starting it again in ${backoffMs} ms`);
      await delay(backoffMs, undefined, { signal: stopped.signal }).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, longestBackoffMs);
      if (stopping) return;
      current = await startServer(cluster, port).catch((error: Error) => {
        log(error.message);
        return undefined;
      });
    }
  };
  const watching = watch();
  const ask = () => {
    stopping = true;
    stopped.abort();
  };
  return {
    async stop() {
      ask();
      await current?.stop();
      await watching;
      // A restart that was already running has started a new server.
      await current?.stop();
    },
    kill() {
      ask();
      current?.kill();
    },
  };
}

/** Throws StartError with one line if the folder is damaged or the server does not start. The default `port` is any free one. */
export async function startPostgres(options: {
  dataDir: string;
  port?: number;
  log: (line: string) => void;
  /** For tests: faster, but data is lost if the machine crashes. */
  volatile?: boolean;
  /** PostgreSQL's settings in place of ours, for benchmarks and tests. */
  settings?: Readonly<Record<string, string>>;
}): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  await prepareFolder(dataDir);
  const cluster = await openCluster(dataDir, options.volatile ?? false, options.settings);
  const { secrets, created } = await prepareCluster(cluster, dataDir);
  const port = options.port ?? (await freePort());
  const server = await startServer(cluster, port);
  const superuserUrl = address(superuser, secrets.superuserPassword, port, "postgres");
  if (created) {
    try {
      await createRoles(superuserUrl, secrets);
      await writeFile(statePath(dataDir), "initialised\n");
    } catch (error) {
      await server.stop();
      throw error;
    }
  }
  return {
    ownerUrl: address(ownerRole, secrets.ownerPassword, port, databaseName),
    applicationUrl: address(applicationRole, secrets.applicationPassword, port, databaseName),
    superuserUrl,
    port,
    secrets,
    created,
    ...keepRunning(cluster, port, server, options.log),
  };
}
