/**
 * Who has migrated the database last, as a comment on the table of migrations: so `npm start` needs one statement, and no migrator, to see that
 * there is nothing to do. `npm run migrate` always does everything, the rights of the application's role included.
 */
import pg from "pg";

/** `release` identifies the code (embedded/server-bundle.ts). */
export interface MigratedBy {
  release: string;
  applicationRole: string;
}

export function commentOf({ release, applicationRole }: MigratedBy): string {
  return `migrated by ${release} for ${applicationRole}`;
}

/** False also for a database that has no tables yet. Rejects if it can't be asked. */
export async function wasMigratedBy(ownerUrl: string, by: MigratedBy): Promise<boolean> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: "tessera migrate", connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query("select obj_description(to_regclass('public.migrations'), 'pg_class') as comment");
    return (rows as { comment: string | null }[])[0]?.comment === commentOf(by);
  } finally {
    await client.end();
  }
}
