import { ConfigError } from "../environment.ts";

/** Runs an operator's command and prints its lines. An error is printed as its message, and a fault of the environment as a line each; the exit code is then 1. */
export async function runCommand(run: () => Promise<string[]>): Promise<void> {
  try {
    console.log((await run()).join("\n"));
  } catch (error) {
    console.error(error instanceof ConfigError ? error.faults.join("\n") : (error as Error).message);
    process.exitCode = 1;
  }
}
