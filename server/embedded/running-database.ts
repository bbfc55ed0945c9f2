/** The database that an operator's commands use: that of DATABASE_URL, or else the running PostgreSQL of DATA_DIR. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { ConfigError, Environment } from "../environment.ts";
import { address, applicationRole, databaseName } from "./postgres.ts";
import { readSecrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

/** The line of postmaster.pid with the port, counted from 0. */
const portLine = 3;

/** Throws ConfigError and StartError. */
export async function databaseAddress(variables: NodeJS.ProcessEnv): Promise<string> {
  const environment = new Environment(variables);
  const given = environment.url("DATABASE_URL", ["postgres:", "postgresql:"])?.href;
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  if (given !== undefined) return given;
  const dataDir = path.resolve(environment.text("DATA_DIR") ?? ".data");
  const secrets = await readSecrets(dataDir);
  const lines = (await readFile(path.join(dataDir, "postgres", "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const port = Number(lines[portLine]);
  if (!secrets || !port) throw new StartError(`no product is running on DATA_DIR=${dataDir}: start it, or set DATABASE_URL`);
  return address(applicationRole, secrets.applicationPassword, port, databaseName);
}
