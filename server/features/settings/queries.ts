import { sql } from "kysely";
import type { SettingName, SettingValue } from "#domain/settings.ts";
import type { Executor, Trx } from "../../db/transaction.ts";

/** The settings that were ever changed, at most one row for each. */
export async function selectSettings(executor: Executor): Promise<{ name: string; value: unknown }[]> {
  return executor.selectFrom("settings").select(["name", "value"]).execute();
}

/** With who changed it last. */
export async function selectChanges(executor: Executor) {
  return executor
    .selectFrom("settings")
    .leftJoin("identities", (join) => join.onRef("identities.user_id", "=", "settings.changed_by").on("identities.kind", "=", "email"))
    .select(["settings.name", "settings.value", "version", "changed_at", "reason", "identities.subject as changed_by_email"])
    .execute();
}

interface Change {
  name: SettingName;
  /** Null: the default. */
  value: SettingValue;
  /** The version that this one follows. */
  version: number;
  by: string;
  reason: string;
  now: Date;
}

/** Returns what was stored before. Undefined if the stored version is not the one that the admin saw. */
export async function writeChange(trx: Trx, { name, value, version, by, reason, now }: Change): Promise<{ was: unknown } | undefined> {
  const known = await trx.selectFrom("settings").select(["value", "version"]).where("name", "=", name).forUpdate().executeTakeFirst();
  if ((known?.version ?? 0) !== version) return undefined;
  const stored = value === null ? null : JSON.stringify(value);
  const { rows } = await sql`
    insert into settings as known (name, value, version, changed_at, changed_by, reason)
      values (${name}, ${stored}::jsonb, 1, ${now}, ${by}, ${reason})
    on conflict (name) do update set value = excluded.value, version = known.version + 1, changed_at = excluded.changed_at,
      changed_by = excluded.changed_by, reason = excluded.reason where known.version = ${version}
    returning name`.execute(trx);
  return rows.length === 0 ? undefined : { was: known?.value ?? null };
}
