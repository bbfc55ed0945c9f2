/** What the operating system says about processes; a process id alone may long belong to somebody else. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The command line of a live process, arguments separated by blanks; undefined when there is no such process. */
export async function commandOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") {
      const text = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
      // A process that has ended but was not yet collected has no command line.
      return text === "" ? undefined : text;
    }
    return (await run("ps", ["-p", String(pid), "-o", "command="])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Tells one process from a later one with the same id; undefined when there is no such process. */
export async function startOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === "linux") {
      const text = await readFile(`/proc/${pid}/stat`, "utf8");
      const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
      // The name in brackets may hold blanks; the start time is the 20th field after it, the state the first.
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

/** Sends a signal to a process that may have gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The error code of listening there, or undefined when the port is free. */
export function portFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** A port on 127.0.0.1 that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}
