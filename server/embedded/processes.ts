/** Asks the operating system about processes. A process id alone does not identify a process, because ids are reused. */
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The command line of a running process, arguments separated by blanks; undefined if there is no such process. */
export async function commandOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") {
      const text = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
      // A zombie process has no command line.
      return text === "" ? undefined : text;
    }
    return (await run("ps", ["-p", String(pid), "-o", "command="])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The working directory of a running process; undefined if there is no such process or we may not see it. Linux only. */
export async function folderOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined);
}

/** The start time of a process, to distinguish it from a later one with the same id; undefined if there is no such process. */
export async function startOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") {
      const text = await readFile(`/proc/${pid}/stat`, "utf8");
      const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
      // The name in brackets may contain blanks. After it the state is the first field, the start time the 20th.
      const rest = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return rest[0] === "Z" ? undefined : `${boot}/${rest[19]}`;
    }
    return (await run("ps", ["-p", String(pid), "-o", "lstart="])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Resolves to true as soon as `condition` holds, to false after `timeoutMs`. */
export async function waitUntil(condition: () => Promise<boolean> | boolean, timeoutMs: number, intervalMs = 20): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (Date.now() >= end) return false;
    await delay(intervalMs);
  }
}

/** Sends a signal to a process, which may have ended already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The error code of an attempt to listen there, or undefined if the port is free. */
export function portFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Operating systems give outgoing connections ports from 32768 or 49152 on. Ours are lower, so that none is taken before we listen. */
const [firstPort, lastPort] = [16_384, 32_767];
const portTries = 20;

/** A port on 127.0.0.1 that is free now, chosen at random, so that two who ask at the same time get different ones. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portTries; tries += 1) {
    const port = randomInt(firstPort, lastPort + 1);
    if ((await portFault("127.0.0.1", port)) === undefined) return port;
  }
  throw new Error(`none of ${portTries} ports from ${firstPort} to ${lastPort} was free`);
}
