/** The real product, started as people start it, in a data folder and on ports of its own. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort, waitUntil } from "#server/embedded/processes.ts";
import { root } from "./sources.ts";

export interface Product {
  url: string;
  sandboxUrl: string;
  process: ChildProcess;
  /** All it has said, errors included. */
  output(): string;
  /** Resolves when `text` was said. */
  said(text: string | RegExp, timeoutMs?: number): Promise<string>;
  exited: Promise<number | null>;
}

export interface ProductFolder {
  dataDir: string;
  port: number;
  sandboxPort: number;
  start(environment?: NodeJS.ProcessEnv): Product;
  /** The live processes of this product: supervisor, parts, PostgreSQL's. */
  processes(): Promise<{ pid: number; command: string }[]>;
  /** Kills what is left and removes the folder. */
  remove(): Promise<void>;
}

const startTimeoutMs = 120_000;

function startProduct(variables: NodeJS.ProcessEnv, port: number, sandboxPort: number): Product {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ["server/embedded/main.ts"], {
    cwd: root,
    env: { PATH, HOME, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const collect = (data: Buffer) => {
    text += data.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    process: child,
    output: () => text,
    exited,
    async said(wanted, timeoutMs = startTimeoutMs) {
      const has = () => (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));
      await waitUntil(() => has() || child.exitCode !== null, timeoutMs);
      if (!has()) throw new Error(`not said: ${wanted}\n${text}`);
      return text;
    },
  };
}

/** By the data folder, which each of them has in its environment or on its command line. */
async function processesOf(dataDir: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const [command, environment] = await Promise.all(
      ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
    );
    if (pid === process.pid || !command) continue;
    if (command.includes(dataDir) || environment?.includes(`DATA_DIR=${dataDir}\0`))
      found.push({ pid, command: command.replaceAll("\0", " ").trim() });
  }
  return found;
}

export async function createProductFolder(): Promise<ProductFolder> {
  const parent = await mkdtemp(path.join(tmpdir(), "tessera-test-product-"));
  const dataDir = path.join(parent, "data");
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const processes = () => processesOf(dataDir);
  return {
    dataDir,
    port,
    sandboxPort,
    start: (environment = {}) =>
      startProduct({ PORT: String(port), SANDBOX_PORT: String(sandboxPort), DATA_DIR: dataDir, ...environment }, port, sandboxPort),
    processes,
    async remove() {
      for (const { pid } of await processes()) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // Gone by itself.
        }
      }
      const timeoutMs = 10_000;
      await waitUntil(async () => (await processes()).length === 0, timeoutMs);
      await rm(parent, { recursive: true, force: true });
    },
  };
}
