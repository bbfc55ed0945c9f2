/** Starts all parts in order, and stops them in reverse order. */
import type { ChildProcess } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createPool } from "../db/database.ts";
import { wasMigratedBy } from "../db/migrated-by.ts";
import { assertMigrated, assertRestrictedRole } from "../db/verify.ts";
import { StartError } from "../start-error.ts";
import { buildClientWhenStale } from "./client-build.ts";
import { lockDataDir } from "./data-lock.ts";
import { createFirstAdmin, isPasswordUnshown, notePasswordShown } from "./first-admin.ts";
import type { Part, PartDescription } from "./part.ts";
import { startAhead, startPart } from "./part.ts";
import { startPostgres } from "./postgres.ts";
import { freePort, portFault } from "./processes.ts";
import type { Secrets } from "./secrets.ts";
import { createSecrets, readSecrets } from "./secrets.ts";
import { entryOf, makeBundle } from "./server-bundle.ts";
import type { SandboxPorts, Settings } from "./settings.ts";
import { developmentPort, environmentAhead, processEnvironment, sandboxEnvironment, visitable } from "./settings.ts";

type Log = (line: string) => void;

const root = fileURLToPath(new URL("../../", import.meta.url));
/**
 * A smaller young generation than Node's default keeps memory low with a thousand connections. It is collected by the main thread alone (decision
 * 119). `start:api` in package.json has the same options.
 */
const apiNodeOptions = ["--max-semi-space-size=16", "--no-parallel-scavenge"];
const stopDeadlineMs = 15_000;
const sandboxStopDeadlineMs = 5_000;

export interface Stack {
  /** Resolves, when all parts are ready, to the lines with their addresses. */
  ready: Promise<string[]>;
  stopping(): boolean;
  stop(): Promise<void>;
  kill(): void;
}

async function assertPortFree(name: string, host: string, port: number): Promise<void> {
  const fault = await portFault(host, port);
  if (fault === undefined) return;
  if (fault === "EADDRINUSE")
    throw new StartError(`${name}=${port}: the port is taken on ${host}; stop what listens there, or set ${name} to another port`);
  if (fault === "EACCES") throw new StartError(`${name}=${port}: this user may not listen there; set ${name} to a port above 1023`);
  throw new StartError(`HOST=${host}: cannot listen there (${fault}); set HOST to an address of this machine`);
}

async function assertPortsFree(settings: Settings): Promise<void> {
  await assertPortFree("PORT", settings.host, settings.port);
  if (settings.sandbox) await assertPortFree("SANDBOX_PORT", settings.host, settings.sandboxPort);
}

interface Stoppable {
  stop(): Promise<unknown>;
  kill(): void;
}

/** The parts that were started, in order; they are stopped in reverse order. */
class Started {
  private readonly aborted = new AbortController();
  private readonly groups: Stoppable[][] = [];

  get signal(): AbortSignal {
    return this.aborted.signal;
  }

  /** Adds parts that stop at the same time. A group that is added after `stop` was called is stopped at once. */
  async add(group: Stoppable[]): Promise<void> {
    this.groups.push(group);
    if (!this.signal.aborted) return;
    await Promise.all(group.map((part) => part.stop()));
    throw new StartError("stopped while starting");
  }

  async stop(): Promise<void> {
    this.aborted.abort();
    for (const group of this.groups.toReversed()) await Promise.all(group.map((part) => part.stop()));
  }

  kill(): void {
    this.aborted.abort();
    for (const part of this.groups.flat()) part.kill();
  }
}

function stoppable(part: Part, deadlineMs: number): Stoppable {
  return { stop: () => part.stop(deadlineMs), kill: () => part.kill() };
}

/** Starts the database if needed, migrates and checks it, and returns its address for the application's role. */
async function prepareDatabase(settings: Settings, started: Started, log: Log): Promise<{ databaseUrl: string; secrets: Secrets }> {
  const { dataDir, databaseUrl, migrateDatabaseUrl, bundle } = settings;
  const release = bundle && path.basename(bundle);
  if (databaseUrl === undefined) {
    const postgres = await startPostgres({ dataDir, log });
    await started.add([postgres]);
    const role = new URL(postgres.applicationUrl).username;
    await migrateOrExplain("DATA_DIR", { ownerUrl: postgres.ownerUrl, applicationRole: role, release });
    return { databaseUrl: postgres.applicationUrl, secrets: postgres.secrets };
  }
  const secrets = (await readSecrets(dataDir)) ?? (await createSecrets(dataDir));
  const pool = createPool(databaseUrl, 2, "tessera start");
  try {
    await assertRestrictedRole(pool);
    if (migrateDatabaseUrl !== undefined)
      await migrateOrExplain("MIGRATE_DATABASE_URL", {
        ownerUrl: migrateDatabaseUrl,
        applicationRole: decodeURIComponent(new URL(databaseUrl).username),
        release,
      });
    await assertRestrictedRole(pool);
    await assertMigrated(pool);
  } finally {
    await pool.end();
  }
  return { databaseUrl, secrets };
}

/** `variable`: where the owner's address comes from, for error messages. `release` is undefined if nothing identifies the code. */
async function migrateOrExplain(
  variable: string,
  { release, ...database }: { ownerUrl: string; applicationRole: string; release: string | undefined },
): Promise<void> {
  try {
    if (release !== undefined && (await wasMigratedBy(database.ownerUrl, { release, ...database }))) return;
    // It takes a sixth of a second to load.
    const { migrate } = await import("../db/migrator.ts");
    await migrate({ ...database, release });
  } catch (error) {
    throw new StartError(`${variable}: the database could not be migrated (${(error as Error).message})`);
  }
}

function describeParts(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  log: Log,
): Record<"api" | "worker" | "sandbox" | "client", PartDescription> {
  const nodeOptions = settings.development ? ["--watch", "--watch-preserve-output"] : [];
  const describe = (name: string, entry: string): PartDescription => ({
    name,
    entry,
    nodeOptions,
    environment,
    signalsReady: true,
    log,
  });
  return {
    api: { ...describe("API", entryOf("api", settings.bundle)), nodeOptions: [...nodeOptions, ...apiNodeOptions] },
    worker: describe("worker", entryOf("worker", settings.bundle)),
    sandbox: { ...describe("sandbox", entryOf("sandbox", settings.bundle)), nodeOptions: [] },
    client: {
      ...describe("client", path.join(root, "node_modules/vite/bin/vite.js")),
      arguments: ["--config", "client/vite.config.ts", "--host", settings.host, "--port", String(developmentPort), "--strictPort"],
      environment: { ...environment, API_URL: visitable(settings.host, settings.port) },
      nodeOptions: [],
      signalsReady: false,
    },
  };
}

interface Ahead {
  api: ChildProcess;
  worker: ChildProcess;
}

/** Starts API and worker early, so that they load their code while the database starts. */
async function loadAhead(settings: Settings, variables: NodeJS.ProcessEnv, started: Started, log: Log): Promise<Ahead> {
  const { api, worker } = describeParts(settings, environmentAhead(variables, settings), log);
  const ahead = { api: startAhead(api), worker: startAhead(worker) };
  // Processes that became parts have been stopped before these.
  const end = (child: ChildProcess) => child.kill("SIGKILL");
  const stoppables = Object.values(ahead).map((child) => ({ stop: async () => end(child), kill: () => end(child) }));
  await started.add(stoppables);
  return ahead;
}

/** Undefined without a sandbox. */
async function startSandbox(settings: Settings, environment: NodeJS.ProcessEnv, started: Started, log: Log): Promise<Part | undefined> {
  if (!settings.sandbox) return undefined;
  const part = startPart(describeParts(settings, environment, log).sandbox);
  await started.add([stoppable(part, sandboxStopDeadlineMs)]);
  return part;
}

async function startParts(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  ahead: Ahead | undefined,
  started: Started,
  log: Log,
): Promise<void> {
  const descriptions = describeParts(settings, environment, log);
  descriptions.api.ahead = ahead?.api;
  descriptions.worker.ahead = ahead?.worker;
  const api = [descriptions.api, ...(settings.development ? [descriptions.client] : [])].map(startPart);
  await started.add(api.map((part) => stoppable(part, stopDeadlineMs)));
  await Promise.all(api.map((part) => part.ready));
  // Starts after the API: its first work would take the processor from the API, and people wait for pages.
  const worker = startPart(descriptions.worker);
  await started.add([stoppable(worker, stopDeadlineMs)]);
  await worker.ready;
}

async function bringUp(settings: Settings, variables: NodeJS.ProcessEnv, started: Started, log: Log): Promise<string[]> {
  const release = await lockDataDir(settings.dataDir);
  await started.add([{ stop: release, kill: () => {} }]);
  await assertPortsFree(settings);
  const building = settings.development ? undefined : buildClientWhenStale(settings.dataDir, log, started.signal);
  // A failure is reported where the promise is awaited; this only prevents an unhandled rejection.
  building?.catch(() => {});
  // Not in development: there the child process is Node's watcher, which can't forward the environment.
  const ahead = settings.development ? undefined : await loadAhead(settings, variables, started, log);
  const ports: SandboxPorts = { smtpPort: await freePort(), googlePort: await freePort() };
  const sandboxWith = (own: Secrets) => startSandbox(settings, sandboxEnvironment(variables, settings, own, ports), started, log);
  // It starts while the database does, unless this is the first start and there are no secrets yet.
  const known = await readSecrets(settings.dataDir);
  const early = known && (await sandboxWith(known));
  const { databaseUrl, secrets } = await prepareDatabase(settings, started, log);
  if (settings.adminEmail) await createFirstAdmin(databaseUrl, settings.adminEmail, secrets.adminPassword, settings.dataDir);
  const sandbox = early ?? (await sandboxWith(secrets));
  const environment = processEnvironment(variables, settings, secrets, { databaseUrl, clientDir: await building, ...ports });
  // API and worker ask it as soon as they run. It was added before them, so it stops after them, as they may need it while they close.
  await sandbox?.ready;
  await startParts(settings, environment, ahead, started, log);
  if (!settings.development && settings.bundle === undefined) makeBundle(started.signal, log);
  return describe(settings, environment, secrets);
}

async function describe(settings: Settings, environment: NodeJS.ProcessEnv, secrets: Secrets): Promise<string[]> {
  const lines = ["", `  Tessera   ${environment.PUBLIC_URL}`];
  if (settings.sandbox) lines.push(`  Sandbox   ${environment.SANDBOX_URL}`);
  if (settings.adminEmail) {
    const unshown = await isPasswordUnshown(settings.dataDir);
    lines.push(`  Admin     ${settings.adminEmail}${unshown ? `   password ${secrets.adminPassword}` : ""}`);
    await notePasswordShown(settings.dataDir);
  }
  return [...lines, ""];
}

/** Starts everything at once. `stop` may be called at any time, also during the start. */
export function startEverything(settings: Settings, variables: NodeJS.ProcessEnv, log: Log): Stack {
  const started = new Started();
  const ready = bringUp(settings, variables, started, log);
  return {
    ready,
    stopping: () => started.signal.aborted,
    async stop() {
      await started.stop();
      // `Started.add` stops the parts that were being started at that moment.
      await ready.catch(() => {});
    },
    kill: () => started.kill(),
  };
}
