/** What `npm start` and `npm run dev` do: everything the product needs is started on one machine, and stopped at a signal. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseFault } from "../db/verify.ts";
import { ConfigError } from "../environment.ts";
import { StartError } from "../start-error.ts";
import { readSettings } from "./settings.ts";
import type { Stack } from "./start.ts";
import { startEverything } from "./start.ts";

function say(line: string): void {
  console.log(line);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.faults.join("\n");
  if (error instanceof StartError || error instanceof DatabaseFault) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The terminal sends us Ctrl-C, and npm forwards it to us again. A second signal within this time is the same key press. */
const sameKeyMs = 500;

/** At the first signal stops everything in order; at a second one kills it. */
function stopOnSignal(stack: Stack): void {
  let stopping: Promise<void> | undefined;
  let askedAt = 0;
  const ask = () => {
    if (stopping) {
      if (performance.now() - askedAt < sameKeyMs) return;
      stack.kill();
      process.exit(130);
    }
    askedAt = performance.now();
    say("\nstopping …");
    stopping = stack.stop().then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        console.error(explain(error));
        stack.kill();
        process.exit(1);
      },
    );
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, ask);
}

async function start(development: boolean, bundle: string | undefined): Promise<void> {
  const settings = readSettings(process.env, development);
  const dataDir = path.resolve(settings.dataDir);
  await mkdir(dataDir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`DATA_DIR=${settings.dataDir} cannot be used (${error.code}): name a folder that can be written to`);
  });
  const stack = startEverything({ ...settings, dataDir, bundle }, process.env, say);
  stopOnSignal(stack);
  try {
    for (const line of await stack.ready) say(line);
  } catch (error) {
    if (stack.stopping()) return;
    console.error(explain(error));
    await stack.stop().catch(() => stack.kill());
    process.exit(1);
  }
}

/** Returns when all is ready; signals end the process. `bundle` is the folder this was loaded from, undefined for the sources. */
export async function run(development: boolean, bundle: string | undefined): Promise<void> {
  try {
    await start(development, bundle);
  } catch (error) {
    console.error(explain(error));
    process.exit(1);
  }
}
