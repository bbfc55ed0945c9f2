import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type pg from "pg";
import type { Db } from "#server/db/database.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole, startPostgres } from "#server/embedded/postgres.ts";

/** Our figure and the baseline's, measured in the same run; `ours / theirs` must reach `target`. */
export interface Ratio {
  name: string;
  ours: number;
  theirs: number;
  unit: string;
  target: number;
}

export interface BenchServer {
  db: Db;
  pool: pg.Pool;
  ownerUrl: string;
  applicationUrl: string;
  stop(): Promise<void>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function report(ratio: Ratio): void {
  const reached = ratio.ours / ratio.theirs;
  const verdict = reached >= ratio.target ? "reached" : "MISSED";
  console.log(
    `${ratio.name}: ${ratio.ours.toFixed(1)} / ${ratio.theirs.toFixed(1)} ${ratio.unit} = ${reached.toFixed(2)} (≥ ${ratio.target}) ${verdict}`,
  );
}

/** Starts and migrates a PostgreSQL with the settings of `npm start` (durable). */
export async function startBenchServer(): Promise<BenchServer> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-bench-"));
  const server = await startPostgres({ dataDir: folder, log: (line) => console.error(line) });
  await migrate({ ownerUrl: server.ownerUrl, applicationRole });
  const pool = createPool(server.applicationUrl, 10, "bench");
  const db = createDatabase(pool);
  return {
    db,
    pool,
    ownerUrl: server.ownerUrl,
    applicationUrl: server.applicationUrl,
    async stop() {
      await db.destroy();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
