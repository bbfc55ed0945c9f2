import { ConfigError } from "../environment.ts";

/** Runs an operator's command and prints its lines. If it fails, prints the message or the environment's faults; the exit code is 1. */
export async function runCommand(run: () => Promise<string[]>): Promise<void> {
  try {
    console.log((await run()).join("\n"));
  } catch (error) {
    console.error(error instanceof ConfigError ? error.faults.join("\n") : (error as Error).message);
    process.exitCode = 1;
  }
}
