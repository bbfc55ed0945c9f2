/** Goes up and down over one migration, to see what it makes of the rows that were there before. */
import pg from "pg";
import { migrationNames } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole } from "#server/embedded/postgres.ts";

export interface MigrationSteps {
  owner: pg.Client;
  goUp(): Promise<unknown>;
  /** To the schema before the migration. */
  goBack(): Promise<unknown>;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function stepsOver(
  migration: string,
  { ownerUrl, drop }: { ownerUrl: string; drop(): Promise<unknown> },
): Promise<MigrationSteps> {
  const names = await migrationNames();
  const before = names[names.indexOf(migration) - 1];
  if (before === undefined) throw new Error(`${migration} is no migration, or the first`);
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  return {
    owner,
    goUp: () => migrate({ ownerUrl, applicationRole }),
    goBack: () => migrate({ ownerUrl, applicationRole, downTo: before }),
    async close() {
      await owner.end();
      await drop();
    },
  };
}
