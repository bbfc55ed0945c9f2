/** One supervised process: started, watched, started again after a crash with back-off, and stopped. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "./start-error.ts";

const firstBackoffMs = 250;
const longestBackoffMs = 10_000;
const steadyAfterMs = 30_000;

export interface PartDescription {
  /** Begins a sentence: "API". */
  name: string;
  /** A file Node runs. */
  entry: string;
  arguments?: readonly string[];
  nodeOptions?: readonly string[];
  environment: NodeJS.ProcessEnv;
  /** False where the program does not say by itself when it serves. */
  signalsReady: boolean;
  log: (line: string) => void;
}

export interface Part {
  /** Resolves when it serves for the first time; rejects with StartError where it ends before. */
  ready: Promise<void>;
  /** Asks the process to end, and kills it after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
  kill(): void;
}

interface Run {
  child: ChildProcess;
  /** True once it serves, false when it ended first. */
  ready: Promise<boolean>;
  /** How it ended: "SIGKILL", "exit code 1". */
  ended: Promise<string>;
}

function run(part: PartDescription): Run {
  const child = fork(part.entry, part.arguments ?? [], {
    env: part.environment,
    execArgv: [...(part.nodeOptions ?? [])],
    // A session of its own: Ctrl-C in the terminal reaches the supervisor alone, which stops the parts in order.
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
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

/** Starts the part. Once it has served, it is started again whenever it ends without having been asked to. */
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
      current = run(part);
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
