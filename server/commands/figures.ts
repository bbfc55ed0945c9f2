/**
 * `npm run figures [-- --rebuild]` compares the sums behind the overview's figures with the raw rows and lists what differs; the exit code is 1
 * if anything does. `--rebuild` also puts the sums right. It uses the database of DATABASE_URL, or else the running PostgreSQL of DATA_DIR.
 */
import { parseArgs } from "node:util";
import { createDatabase, createPool } from "../db/database.ts";
import { rebuildFigures } from "../features/figures/rebuild.ts";
import { databaseAddress } from "./database-address.ts";
import { runCommand } from "./run-command.ts";

async function run(): Promise<string[]> {
  const { values } = parseArgs({ options: { rebuild: { type: "boolean" } } });
  const db = createDatabase(createPool(await databaseAddress(process.env), 1, "tessera figures"));
  try {
    const keep = values.rebuild === true;
    const differences = await rebuildFigures(db, { keep });
    if (differences.length === 0) return ["the sums agree with the raw rows"];
    if (!keep) process.exitCode = 1;
    return [
      ...differences.map(
        ({ sum, recorded, rebuilt }) => `${sum}: ${JSON.stringify(recorded)}; from the raw rows ${JSON.stringify(rebuilt)}`,
      ),
      keep ? "the sums were put right" : "npm run figures -- --rebuild puts them right",
    ];
  } finally {
    await db.destroy();
  }
}

await runCommand(run);
