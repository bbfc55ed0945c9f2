/** Changes settings without a deploy (decision 89), and says which notice people see now. */
import { DomainError } from "#domain/errors.ts";
import type { Notice, SettingName, SettingValue } from "#domain/settings.ts";
import { endsInTime, isWithinLimits, settings as known, noticeBounds, settingNames } from "#domain/settings.ts";
import { describeVariables } from "../../config-variables.ts";
import type { SetSetting, Setting, SettingsPage } from "../../contract/settings.ts";
import { recordAct } from "../../db/audit.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { ValidationError } from "../../http/problem.ts";
import { readSettings, tellSettings } from "./follow.ts";
import { selectChanges, writeChange } from "./queries.ts";

type SettingsDeps = Pick<Deps, "config" | "clock" | "db" | "live" | "log" | "settings">;

function present(
  deps: Pick<Deps, "settings">,
  name: SettingName,
  row: Awaited<ReturnType<typeof selectChanges>>[number] | undefined,
): Setting {
  const stored = row?.value ?? null;
  const isOutside = stored !== null && !isWithinLimits(name, stored);
  const byDefault = deps.settings.defaults[name];
  return {
    name,
    value: stored === null || isOutside ? byDefault : (stored as SettingValue),
    default: byDefault,
    isDefault: stored === null || isOutside,
    isOutside,
    version: row?.version ?? 0,
    changedAt: row?.changed_at.toISOString() ?? null,
    changedBy: row?.changed_by_email ?? null,
    reason: row?.reason ?? null,
  };
}

export async function listSettings(deps: SettingsDeps): Promise<SettingsPage> {
  const rows = await selectChanges(deps.db);
  const settings = settingNames.map((name) =>
    present(
      deps,
      name,
      rows.find((row) => row.name === name),
    ),
  );
  return { settings, variables: describeVariables(deps.config) };
}

/** Returns the value that we store. Throws `validation_failed` for what is outside the limits. */
function readValue(name: SettingName, value: SetSetting["value"], now: Date): SettingValue {
  if (value === null) return null;
  const refuse = (message: string) => new ValidationError([{ field: "value", message }]);
  const setting = known[name];
  if (!isWithinLimits(name, value))
    throw refuse(
      setting.kind === "amount" ? `Give a whole number from ${setting.lowest} to ${setting.highest}` : `${name} can't have this value`,
    );
  if (setting.kind !== "notice") return value as SettingValue;
  const notice = value as Notice;
  if (!endsInTime(notice, now)) throw refuse(`A notice ends within ${noticeBounds.days} days`);
  const texts = Object.fromEntries(Object.entries(notice.texts).map(([language, text]) => [language, text.trim()]));
  return { ...notice, texts };
}

/** Throws `validation_failed`, and `conflict` if the setting is not as the admin saw it. */
export async function changeSetting(
  deps: SettingsDeps,
  clerk: { userId: string; network: string },
  name: SettingName,
  { version, value, reason }: SetSetting,
): Promise<Setting> {
  const now = deps.clock.now();
  const wanted = readValue(name, value, now);
  await inTransaction(deps.db, async (trx) => {
    const written = await writeChange(trx, { name, value: wanted, version, by: clerk.userId, reason, now });
    if (!written) throw new DomainError("conflict", "Somebody has changed this setting meanwhile");
    const details = { setting: name, was: written.was as SettingValue, now: wanted };
    await recordAct(trx, { actor: clerk.userId, subject: null, network: clerk.network, action: "setting.changed", details, reason });
  });
  // Told before anything can fail: the change is committed, and the other processes should know.
  await tellSettings(deps);
  await readSettings(deps);
  const rows = await selectChanges(deps.db);
  return present(
    deps,
    name,
    rows.find((row) => row.name === name),
  );
}

/** The notice that every page shows now; null if there is none. */
export function noticeOf({ settings, clock }: Pick<Deps, "settings" | "clock">): Notice | null {
  const { notice } = settings.current;
  return notice !== null && clock.now() < new Date(notice.until) ? notice : null;
}
