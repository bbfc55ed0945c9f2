/** The database that an operator's commands use: that of DATABASE_URL, or else the running PostgreSQL of DATA_DIR. */
import path from "node:path";
import { ConfigError, Environment } from "../environment.ts";
import { StartError } from "../start-error.ts";

/** Throws ConfigError and StartError. */
export async function databaseAddress(variables: NodeJS.ProcessEnv): Promise<string> {
  const environment = new Environment(variables);
  const given = environment.url("DATABASE_URL", ["postgres:", "postgresql:"])?.href;
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  if (given !== undefined) return given;
  const dataDir = path.resolve(environment.text("DATA_DIR") ?? ".data");
  // Only here, because a command in production has its DATABASE_URL and needs nothing of `npm start`.
  const { runningDatabase } = await import("../embedded/running-database.ts");
  const running = await runningDatabase(dataDir);
  if (running === undefined) throw new StartError(`no product is running on DATA_DIR=${dataDir}: start it, or set DATABASE_URL`);
  return running;
}
