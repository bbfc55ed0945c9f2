/** What a process checks before it serves: its role may not rewrite the ledger, and the database has exactly this release's migrations. */
import type pg from "pg";
import { sqlState } from "../failures.ts";
import { migrationNames } from "./migrations.ts";

/** Its message is one line for the person who starts the product. */
export class DatabaseFault extends Error {
  override readonly name = "DatabaseFault";
}

const undefinedTable = "42P01";
const insufficientPrivilege = "42501";
const tooManyConnections = "53300";

async function query<Row extends pg.QueryResultRow>(pool: pg.Pool, text: string): Promise<Row[]> {
  try {
    return (await pool.query<Row>(text)).rows;
  } catch (error) {
    const state = sqlState(error);
    if (state === undefinedTable)
      throw new DatabaseFault(
        "DATABASE_URL: the database has no tables yet; run `npm run migrate` with MIGRATE_DATABASE_URL set to its owner",
      );
    if (state === insufficientPrivilege) {
      throw new DatabaseFault(
        "DATABASE_URL: its role has no rights yet; run `npm run migrate` with MIGRATE_DATABASE_URL set to the owner and DATABASE_URL to this role",
      );
    }
    if (state === tooManyConnections) {
      throw new DatabaseFault(
        "DATABASE_URL: the database has no free connection (53300); raise its max_connections, or lower DATABASE_POOL_SIZE of its clients",
      );
    }
    throw new DatabaseFault(
      `DATABASE_URL: the database cannot be reached (${state ?? (error as Error).message}); check the address, the role and its password`,
    );
  }
}

/**
 * Refuses a role that could rewrite the ledger or the audit log: a superuser, the owner of their tables or a member of the owning
 * role, or a role with the right to update, delete or truncate them. Throws DatabaseFault.
 */
export async function assertRestrictedRole(pool: pg.Pool): Promise<void> {
  const rows = await query<{ name: string; relation: string; superuser: boolean; owner: boolean; writer: boolean }>(
    pool,
    `select current_user as name, c.relname as relation, r.rolsuper as superuser,
       pg_has_role(current_user, c.relowner, 'MEMBER') as owner,
       has_any_column_privilege(current_user, c.oid, 'UPDATE') or has_table_privilege(current_user, c.oid, 'DELETE')
         or has_table_privilege(current_user, c.oid, 'TRUNCATE') as writer
     from pg_class c cross join pg_roles r
     where r.rolname = current_user and c.oid in (
       to_regclass('public.ledger_entries'), to_regclass('public.ledger_transactions'), to_regclass('public.audit_events'))
     order by c.relname`,
  );
  const fault = rows.find((row) => row.superuser || row.owner || row.writer);
  if (!fault) return;
  const why = fault.superuser ? "is a superuser" : fault.owner ? `owns ${fault.relation}` : `may change ${fault.relation}`;
  throw new DatabaseFault(
    `DATABASE_URL: the role "${fault.name}" ${why}; give the restricted role here and the owner in MIGRATE_DATABASE_URL`,
  );
}

/** Refuses a database whose migrations are not exactly those of this release. Throws DatabaseFault. */
export async function assertMigrated(pool: pg.Pool): Promise<void> {
  const applied = new Set((await query<{ name: string }>(pool, "select name from public.migrations")).map((row) => row.name));
  const known = await migrationNames();
  const missing = known.filter((name) => !applied.has(name));
  if (missing.length > 0) {
    throw new DatabaseFault(
      `DATABASE_URL: the database lacks ${missing.join(", ")}; run \`npm run migrate\` with MIGRATE_DATABASE_URL set to its owner`,
    );
  }
  const unknown = [...applied].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new DatabaseFault(`DATABASE_URL: the database was migrated by a newer release (${unknown.join(", ")}); start that release`);
}

/** For a process that is started by itself: if the database is not usable, it prints the one-line reason and exits with 1. */
export async function assertFitOrExit(pool: pg.Pool): Promise<void> {
  try {
    await assertRestrictedRole(pool);
    await assertMigrated(pool);
  } catch (error) {
    if (!(error instanceof DatabaseFault)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
