/**
 * For a container's health check: exits with 0 when the worker on this machine has spoken to PostgreSQL lately, which its
 * relay does several times a second. A worker has no port to ask. Run: `node scripts/worker-health.ts`.
 */
import pg from "pg";

const silentAfterSeconds = 15;

const client = new pg.Client({
  connectionString: process.env.DATABASE_URL,
  application_name: "tessera worker health",
  connectionTimeoutMillis: 3_000,
  query_timeout: 3_000,
});
client.on("error", () => {});
try {
  await client.connect();
  // The worker beside us reaches PostgreSQL from the same address as we do; another database's worker is not ours.
  const { rowCount } = await client.query(
    `select from pg_stat_activity
      where application_name = 'tessera worker' and datname = current_database() and client_addr is not distinct from inet_client_addr()
        and state_change > clock_timestamp() - make_interval(secs => $1)`,
    [silentAfterSeconds],
  );
  if (rowCount === 0) throw new Error(`no worker of this machine has spoken to the database for ${silentAfterSeconds} s`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await client.end().catch(() => {});
}
