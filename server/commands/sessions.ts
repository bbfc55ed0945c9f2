/**
 * `npm run sessions -- --end <address> | --end-all` signs a person, or everybody, out everywhere: after a theft, or when a key has leaked. It
 * uses the database of DATABASE_URL, or else the running PostgreSQL of DATA_DIR.
 */
import { parseArgs } from "node:util";
import type { Db } from "../db/database.ts";
import { createDatabase, createPool } from "../db/database.ts";
import { endEverySession, endSessionsOf } from "../features/auth/end-sessions.ts";
import { StartError } from "../start-error.ts";
import { databaseAddress } from "./database-address.ts";
import { runCommand } from "./run-command.ts";

const said = (count: number) => (count === 1 ? "1 sign-in is ended" : `${count} sign-ins are ended`);

async function end(db: Db, email: string): Promise<string> {
  const count = await endSessionsOf(db, email.trim().toLowerCase());
  if (count === undefined) throw new StartError(`nobody has the address ${email}`);
  return said(count);
}

async function run(): Promise<string[]> {
  const { values } = parseArgs({ options: { end: { type: "string" }, "end-all": { type: "boolean" } } });
  const { end: email, "end-all": all = false } = values;
  if ((email === undefined) === !all) throw new StartError("give one of --end <address> and --end-all");
  const db = createDatabase(createPool(await databaseAddress(process.env), 1, "tessera sessions"));
  try {
    return [email === undefined ? said(await endEverySession(db)) : await end(db, email)];
  } finally {
    await db.destroy();
  }
}

await runCommand(run);
