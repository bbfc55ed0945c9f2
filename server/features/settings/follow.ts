/** Every process keeps the settings in memory (decision 89), so that no request asks the database for them. */
import type { Deps } from "../../deps.ts";
import { keepCurrent } from "../../http/keep-current.ts";
import { selectSettings } from "./queries.ts";

type FollowingDeps = Pick<Deps, "db" | "live" | "log" | "settings">;

const usualMs = 5_000;
/** The `userId` of these events, which are about no single person. */
const everybody = "all";

export async function readSettings({ db, log, settings }: Pick<Deps, "db" | "log" | "settings">): Promise<void> {
  settings.replace(await selectSettings(db));
  if (log.level !== settings.current.logLevel) log.level = settings.current.logLevel;
}

/** Reads the settings and follows their changes. Returns a function that stops. */
export async function followSettings(deps: FollowingDeps, readEveryMs = usualMs): Promise<() => void> {
  return keepCurrent(deps, {
    read: () => readSettings(deps),
    concerns: ({ table }) => table === "settings",
    everyMs: readEveryMs,
    unreadable: "the settings could not be read; the last known ones hold until they can",
  });
}

/** Tells the other processes to read again. Call it after the commit. It never throws: they read again within seconds anyway. */
export async function tellSettings({ live, log }: Pick<Deps, "live" | "log">): Promise<void> {
  await live
    .publish({ userId: everybody, table: "settings" })
    .catch((error: unknown) => log.warn({ err: error }, "a changed setting could not be announced to the other processes"));
}
