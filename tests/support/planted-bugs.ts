import type { TestDatabase } from "./postgres.ts";
import { runAt } from "./postgres.ts";

/**
 * Replaces a function of the database by one with a mistake. Returns a function that restores the right one. Meanwhile the test of the
 * guarantee must fail, which proves that it would notice such a mistake in the product.
 */
export async function plantBug(database: TestDatabase, name: string, edit: (source: string) => string): Promise<() => Promise<void>> {
  const { rows } = await database.pool.query<{ source: string }>(
    "select pg_get_functiondef(oid) as source from pg_proc where proname = $1 order by oid desc limit 1",
    [name],
  );
  const source = rows[0]?.source ?? "";
  const mistaken = edit(source);
  if (mistaken === source) throw new Error(`the bug changes nothing in ${name}: ${source}`);
  await runAt(database.ownerUrl, [mistaken]);
  return () => runAt(database.ownerUrl, [source]);
}

/**
 * The same for what our code writes: a trigger changes it, or loses it, on its way into the table. `body` is PL/pgSQL; `moment` is like
 * "before update". Returns a function that removes the trigger.
 */
export async function plantTrigger(
  database: Pick<TestDatabase, "asOwner">,
  moment: string,
  table: string,
  body: string,
): Promise<() => Promise<void>> {
  await database.asOwner(
    `create function planted_bug() returns trigger language plpgsql security definer as $$ begin ${body} end $$`,
    `create trigger planted_bug ${moment} on ${table} for each row execute function planted_bug()`,
  );
  return () => database.asOwner("drop function planted_bug cascade");
}
