/** `npm run migrate [-- --down-to <name>|none]`. Runs as the owner. Any number of machines may run it at the same time. */
import { parseArgs } from "node:util";
import pg from "pg";
import { ConfigError, Environment } from "../environment.ts";
import { isConnectionLost } from "../failures.ts";
import { migrate } from "./migrator.ts";

interface Task {
  ownerUrl: string;
  applicationRole: string;
  downTo: string | undefined;
}

function readTask(): Task {
  const { values } = parseArgs({ options: { "down-to": { type: "string" } } });
  const environment = new Environment(process.env);
  const protocols = ["postgres:", "postgresql:"];
  const ownerUrl = environment.url("MIGRATE_DATABASE_URL", protocols);
  const applicationUrl = environment.url("DATABASE_URL", protocols);
  if (!ownerUrl && environment.faults.length === 0) environment.required("MIGRATE_DATABASE_URL", "the owner's address, postgres://…");
  if (!applicationUrl && !environment.text("DATABASE_URL"))
    environment.required("DATABASE_URL", "names the restricted role that gets its rights, postgres://…");
  const applicationRole = decodeURIComponent(applicationUrl?.username ?? "");
  if (applicationUrl && applicationRole === "")
    environment.faults.push("DATABASE_URL names no role: postgres://role:password@host/database");
  if (applicationUrl && ownerUrl && applicationRole === decodeURIComponent(ownerUrl.username)) {
    environment.faults.push("DATABASE_URL and MIGRATE_DATABASE_URL name the same role: the application's must not be the owner");
  }
  if (environment.faults.length > 0) throw new ConfigError(environment.faults);
  return { ownerUrl: ownerUrl?.href ?? "", applicationRole, downTo: values["down-to"] };
}

async function assertRole(ownerUrl: string, role: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new ConfigError([`MIGRATE_DATABASE_URL: the database cannot be reached (${(error as Error).message})`]);
  }
  try {
    const { rowCount } = await client.query("select from pg_roles where rolname = $1", [role]);
    if (rowCount === 0)
      throw new ConfigError([
        `DATABASE_URL: there is no role "${role}"; create it with: create role ${client.escapeIdentifier(role)} login password '…'`,
      ]);
  } finally {
    await client.end();
  }
}

function describe(error: unknown): string {
  if (error instanceof ConfigError) return error.faults.join("\n");
  const { message } = error as Error;
  // If the answer to the commit was lost, the migration may have been committed.
  if (isConnectionLost(error))
    return `the connection to the database was lost (${message}); run the command again; it continues from the current state`;
  return `the migration failed and nothing was changed: ${message}`;
}

try {
  const { downTo, ...task } = readTask();
  await assertRole(task.ownerUrl, task.applicationRole);
  const steps = await migrate({ ...task, ...(downTo === undefined ? {} : { downTo }) });
  const direction = downTo === undefined ? "up" : "down";
  console.log(steps.length === 0 ? "the database is up to date" : steps.map((name) => `${direction} ${name}`).join("\n"));
} catch (error) {
  console.error(describe(error));
  process.exitCode = 1;
}
