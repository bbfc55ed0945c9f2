/** Supervises one process: starts it, restarts it with back-off after a crash, and stops it. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../start-error.ts";

const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
const steadyAfterMs = 30_000;

export interface PartDescription {
  /** The name at the beginning of a message: "API". */
  name: string;
  /** A file Node runs. */
  entry: string;
  arguments?: readonly string[];
  nodeOptions?: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** False if the program does not report when it is ready. */
  signalsReady: boolean;
  /** A process started by `startAhead`, which has loaded its code already. The first run sends it the environment. */
  ahead?: ChildProcess | undefined;
  log: (line: string) => void;
}

export interface Part {
  /** Resolves when the process is ready for the first time; rejects with StartError if it ends before. */
  ready: Promise<void>;
  /** Sends SIGTERM to the process, and kills it after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
  kill(): void;
}

interface Run {
  child: ChildProcess;
  /** True when the process is ready, false if it ended before. */
  ready: Promise<boolean>;
  /** How it ended: "SIGKILL", "exit code 1". */
  ended: Promise<string>;
}

function start(part: PartDescription, environment: NodeJS.ProcessEnv): ChildProcess {
  return fork(part.entry, part.arguments ?? [], {
    env: environment,
    execArgv: [...(part.nodeOptions ?? [])],
    // In its own session the process does not get Ctrl-C from the terminal. The supervisor does, and stops the parts in order.
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** Starts the process before the database is ready; it waits for its environment (process.ts, `givenEnvironment`). */
export function startAhead(part: PartDescription): ChildProcess {
  const child = start(part, { ...part.environment, TESSERA_AHEAD: "1" });
  child.on("error", () => {});
  return child;
}

function takeAhead({ ahead, environment }: PartDescription): ChildProcess | undefined {
  if (ahead?.connected !== true) return undefined;
  ahead.send({ environment });
  return ahead;
}

function run(part: PartDescription): Run {
  const child = takeAhead(part) ?? start(part, part.environment);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const said = new Promise<boolean>((resolve) => {
    if (!part.signalsReady) resolve(true);
    child.on("message", (message) => {
      if ((message as { type?: unknown } | null)?.type === "ready") resolve(true);
    });
  });
  return { child, ready: Promise.race([said, ended.then(() => false)]), ended };
}

/** Starts the part. Once it has been ready, it is restarted whenever it ends without being stopped. */
export function startPart(part: PartDescription): Part {
  let stopping = false;
  const stopped = new AbortController();
  let current = run(part);

  async function first(): Promise<void> {
    if (!(await current.ready)) throw new StartError(`${part.name} did not start (${await current.ended})`);
  }
  async function watch(): Promise<void> {
    let backoffMs = firstBackoffMs;
    while (!stopping) {
      const startedAt = performance.now();
      const reason = await current.ended;
      if (stopping) return;
      if (performance.now() - startedAt > steadyAfterMs) backoffMs = firstBackoffMs;
      part.log(`${part.name} has ended unexpectedly (${reason}); starting it again in ${backoffMs} ms`);
      await delay(backoffMs, undefined, { signal: stopped.signal }).catch(() => {});
      if (stopping) return;
      backoffMs = Math.min(backoffMs * 2, longestBackoffMs);
      current = run({ ...part, ahead: undefined });
    }
  }

  const ready = first();
  const watching = ready.then(watch, () => {});
  return {
    ready,
    async stop(deadlineMs) {
      stopping = true;
      stopped.abort();
      current.child.kill("SIGTERM");
      const timer = setTimeout(() => {
        part.log(`${part.name} did not stop within ${deadlineMs / 1000} s and was killed`);
        current.child.kill("SIGKILL");
      }, deadlineMs);
      await current.ended;
      clearTimeout(timer);
      await watching;
    },
    kill() {
      stopping = true;
      stopped.abort();
      current.child.kill("SIGKILL");
    },
  };
}
