/** Starts one PostgreSQL server for the whole test run, with a migrated database that each test copies. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole, startPostgres } from "#server/embedded/postgres.ts";
import { endLeftover, openCluster } from "#server/embedded/postgres-server.ts";
import { startOf } from "#server/embedded/processes.ts";
import { copyCluster, serverFolderPrefix } from "./postgres.ts";
import { endProcesses } from "./supervised.ts";

const productsName = "products";

/** Ends the servers and removes the folders that a killed test run left behind. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(serverFolderPrefix)) continue;
    const folder = path.join(tmpdir(), name);
    const [pid, start] = (await readFile(path.join(folder, "owner"), "utf8").catch(() => "")).split(" ");
    if (pid === undefined || start === undefined || (await startOf(Number(pid))) === start) continue;
    await endProcesses(path.join(folder, productsName));
    await endLeftover(await openCluster(folder, true));
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Prepares the data folder of a stopped PostgreSQL server with a migrated database. Tests that kill their server start their
 * own on a copy of this folder; all others copy the migrated database on the shared server.
 */
async function prepareCluster(dataDir: string): Promise<void> {
  const server = await startPostgres({ dataDir, volatile: true, log: (line) => console.error(line) });
  await migrate({ ownerUrl: server.ownerUrl, applicationRole });
  await server.stop();
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await sweep();
  const folder = await mkdtemp(path.join(tmpdir(), serverFolderPrefix));
  await writeFile(path.join(folder, "owner"), `${process.pid} ${await startOf(process.pid)}`);
  const prepared = path.join(folder, "prepared");
  await prepareCluster(prepared);
  await copyCluster(prepared, folder);
  const productsFolder = path.join(folder, productsName);
  await mkdir(productsFolder);
  // A test of whole products opens up to 120 connections, and as many test files run at once as there are workers.
  const settings = { max_connections: "600" };
  const server = await startPostgres({ dataDir: folder, volatile: true, log: (line) => console.error(line), settings });
  project.provide("postgres", {
    superuserUrl: server.superuserUrl,
    ownerUrl: server.ownerUrl,
    applicationUrl: server.applicationUrl,
    preparedFolder: prepared,
    productsFolder,
  });
  return async () => {
    await endProcesses(productsFolder);
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
