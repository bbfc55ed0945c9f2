/** One PostgreSQL server for the whole run, with a migrated database to copy. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole, startPostgres } from "#server/embedded/postgres.ts";
import { endLeftover, openCluster } from "#server/embedded/postgres-server.ts";
import { startOf } from "#server/embedded/processes.ts";
import { serverFolderPrefix, templateName } from "./postgres.ts";

/** What a run that was killed left behind. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(serverFolderPrefix)) continue;
    const folder = path.join(tmpdir(), name);
    const [pid, start] = (await readFile(path.join(folder, "owner"), "utf8").catch(() => "")).split(" ");
    if (pid === undefined || start === undefined || (await startOf(Number(pid))) === start) continue;
    await endLeftover(await openCluster(folder, true));
    await rm(folder, { recursive: true, force: true });
  }
}

async function createTemplate(superuserUrl: string, ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(`create database ${templateName} owner tessera_owner`);
  const url = new URL(ownerUrl);
  url.pathname = `/${templateName}`;
  await migrate({ ownerUrl: url.href, applicationRole });
  await client.end();
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await sweep();
  const folder = await mkdtemp(path.join(tmpdir(), serverFolderPrefix));
  await writeFile(path.join(folder, "owner"), `${process.pid} ${await startOf(process.pid)}`);
  const server = await startPostgres({ dataDir: folder, volatile: true, log: (line) => console.error(line) });
  await createTemplate(server.superuserUrl, server.ownerUrl);
  project.provide("postgres", { superuserUrl: server.superuserUrl, ownerUrl: server.ownerUrl, applicationUrl: server.applicationUrl });
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
