/** The settings that admins change while the product runs, in this process's memory. features/settings/ keeps them up to date. */
import type { SettingName, SettingValues } from "#domain/settings.ts";
import { defaultsOf, isSettingName, isWithinLimits } from "#domain/settings.ts";

export interface Settings {
  /** The values in use now. */
  readonly current: Readonly<SettingValues>;
  readonly defaults: Readonly<SettingValues>;
  /** Takes over the stored values, by name. It ignores settings that this release doesn't know, and values that it doesn't allow. */
  replace(stored: readonly { name: string; value: unknown }[]): void;
}

export function createSettings(environment: { logLevel: string }): Settings {
  const defaults = defaultsOf(environment);
  let current = defaults;
  return {
    get current() {
      return current;
    },
    defaults,
    replace(stored) {
      const holds = stored.filter(({ name, value }) => isSettingName(name) && value !== null && isWithinLimits(name, value));
      current = {
        ...defaults,
        ...(Object.fromEntries(holds.map(({ name, value }) => [name as SettingName, value])) as Partial<SettingValues>),
      };
    },
  };
}
