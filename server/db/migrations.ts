/** The list of migrations: `migrations/0001_name.up.sql` and its `.down.sql`. */
import { readdir } from "node:fs/promises";

export const migrationsFolder = new URL("../../migrations/", import.meta.url);

/** The names of all migrations, the oldest first. */
export async function migrationNames(): Promise<string[]> {
  const files = await readdir(migrationsFolder);
  return files
    .filter((file) => file.endsWith(".up.sql"))
    .map((file) => file.replace(/\.up\.sql$/, ""))
    .sort();
}
