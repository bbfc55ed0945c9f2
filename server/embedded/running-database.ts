import { readFile } from "node:fs/promises";
import path from "node:path";
import { address, applicationRole, databaseName } from "./postgres.ts";
import { readSecrets } from "./secrets.ts";

/** The line of postmaster.pid with the port, counted from 0. */
const portLine = 3;

/** The address, for the application's role, of the PostgreSQL that runs on the folder; undefined if none does. Throws StartError. */
export async function runningDatabase(dataDir: string): Promise<string | undefined> {
  const secrets = await readSecrets(dataDir);
  const lines = (await readFile(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const port = Number(lines[portLine]);
  return secrets && port ? address(applicationRole, secrets.applicationPassword, port, databaseName) : undefined;
}
