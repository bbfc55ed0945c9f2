/**
 * The product that `npm start` runs: its start, its end, and its processes' ends. Each first start costs as much as ten tests, so most
 * begin with the data of one that was made once. `npm run test:full` damages the data folder in more ways and interrupts the first start.
 */
import { execFile, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { signal, waitUntil } from "#server/embedded/processes.ts";
import { daily, full } from "#tests/support/full.ts";
import { copyCluster } from "#tests/support/postgres.ts";
import { root } from "#tests/support/sources.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { copyCheckout, createProductFolder, lookAgainMs, runsPart } from "#tests/support/supervised.ts";

const patienceMs = 60_000;
vi.setConfig({ testTimeout: 180_000, hookTimeout: patienceMs });
let folder: ProductFolder;
/** Only root can make a folder that PostgreSQL's user can't read; as root, the first start is made in such a folder. */
const isRoot = process.getuid?.() === 0;
/** The id of an ordinary user. Nothing in this repository belongs to them, so they can only read the checkout. */
const somebody = 54_321;
const somebodyReads =
  isRoot && spawnSync("test", ["-x", process.execPath, "-a", "-r", path.join(root, "package.json")], { uid: somebody }).status === 0;
let prepared: ProductFolder;
/** A checkout with spaces and umlauts in a long name, in a closed folder. */
let closed: string;
/** The data of a product that was started once and stopped: a start with it needs a third of the time of a first one. */
let firstData: string;
/** What that first start has said and done. */
let first: {
  url: string;
  sandboxUrl: string;
  output: string;
  ready: boolean;
  page: [number, string | null];
  signIn: number;
  end: number | null;
};

beforeAll(async () => {
  prepared = await createProductFolder();
  closed = await mkdtemp(path.join(tmpdir(), "tessera-test-product-"));
  const checkout = path.join(closed, "Ein Ordner für Übungen ".repeat(8).trim(), "x");
  if (isRoot) await copyCheckout(checkout);
  firstData = isRoot ? path.join(checkout, ".data") : prepared.dataDir;
  const product = isRoot ? prepared.start({ DATA_DIR: firstData }, checkout) : prepared.start();
  const output = await product.said(/Admin .*\n/);
  const [ready, page] = [await isReady(product), await fetch(product.url)];
  const signIn = await fetch(`${product.url}/api/auth/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: product.url },
    body: JSON.stringify({ email: "admin@tessera.example", password: /password (\S+)\n/.exec(output)?.[1] ?? "" }),
  });
  product.process.kill("SIGINT");
  first = {
    url: product.url,
    sandboxUrl: product.sandboxUrl,
    output,
    ready,
    page: [page.status, page.headers.get("content-type")],
    signIn: signIn.status,
    end: await product.exited,
  };
}, 180_000);
afterAll(async () => {
  await prepared?.remove();
  await rm(closed, { recursive: true, force: true });
});

/** Each test of the describe has a folder of its own. */
function eachInItsFolder(): void {
  beforeEach(async () => {
    folder = await createProductFolder();
  });
  afterEach(() => folder.remove(), patienceMs);
}

/** Gives the product the data of an earlier start. */
async function copyData(): Promise<void> {
  await mkdir(folder.dataDir, { recursive: true });
  await copyCluster(firstData, folder.dataDir);
}

async function giveTo(uid: number, target: string): Promise<void> {
  for (const name of ["", ...(await readdir(target, { recursive: true }))]) await chown(path.join(target, name), uid, uid);
}

/** Starts the product with data of an earlier start. */
async function startedAgain(): Promise<Product> {
  await copyData();
  return await started();
}

async function started(environment?: NodeJS.ProcessEnv): Promise<Product> {
  const product = folder.start(environment);
  await product.said(/Admin .*\n/);
  return product;
}

async function pidOf(part: Parameters<typeof runsPart>[1]): Promise<number> {
  const found = (await folder.processes()).find(({ command }) => runsPart(command, part));
  if (!found) throw new Error(`${part} is not running`);
  return found.pid;
}

async function isReady(product: Product): Promise<boolean> {
  return fetch(`${product.url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}

/** Runs SQL as the superuser; the fourth line of postmaster.pid is the port. */
async function onDatabase<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
  const secrets = JSON.parse(await readFile(path.join(folder.dataDir, "secrets.json"), "utf8")) as { superuserPassword: string };
  const port = (await readFile(path.join(folder.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[3];
  const connectionString = `postgres://postgres:${secrets.superuserPassword}@127.0.0.1:${port}/tessera`;
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: patienceMs, query_timeout: patienceMs });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

const countMarks = async () => (await onDatabase<{ count: number }>("select count(*)::int as count from kept.marks"))[0]?.count;

async function refused(environment?: NodeJS.ProcessEnv, uid?: number): Promise<string> {
  const product = folder.start(environment, root, uid);
  expect(await product.exited).toBe(1);
  return product.output().replace("building the client …\n", "").trim();
}

async function expectNothingRuns(): Promise<void> {
  await waitUntil(async () => (await folder.processes()).length === 0, patienceMs, lookAgainMs);
  expect(await folder.processes()).toEqual([]);
}

describe("one command", () => {
  eachInItsFolder();

  it("starts everything in any folder, names each address, and shows the administrator's password once", async () => {
    expect(first.output).toContain(`Tessera   ${first.url}\n`);
    expect(first.output).toContain(`Sandbox   ${first.sandboxUrl}\n`);
    // Nothing of the log: a newcomer would take it for a fault.
    expect(first.output).not.toContain('"level":');
    expect(first.output).toMatch(/Admin {5}admin@tessera\.example {3}password [\w-]{22}a7\n/);
    expect(first).toMatchObject({ ready: true, page: [200, expect.stringContaining("text/html")], signIn: 200, end: 0 });
    const modeOf = async (name: string) => (await stat(path.join(firstData, name))).mode & 0o777;
    expect([await modeOf("secrets.json"), await modeOf("postgres")]).toEqual([0o600, 0o700]);
    expect((await readdir(firstData)).filter((name) => name.endsWith(".password"))).toEqual([]);
  });

  it.runIf(somebodyReads)(
    "starts for an ordinary user too, from a checkout they may only read; a DATA_DIR of root's is refused in one line",
    async () => {
      const parent = path.dirname(folder.dataDir);
      await chmod(parent, 0o755);
      await copyData();
      expect(await refused({ HOME: parent }, somebody)).toMatch(/^DATA_DIR=[^\n]+ cannot be used \(EACCES\)[^\n]+$/);
      await giveTo(somebody, folder.dataDir);
      const product = folder.start({ HOME: parent }, root, somebody);
      await product.said(/Admin .*\n/);
      expect([await isReady(product), (await fetch(product.url)).status]).toEqual([true, 200]);
      product.process.kill("SIGINT");
      expect(await product.exited).toBe(0);
    },
  );

  it.runIf(somebodyReads)("says in one line that PostgreSQL needs a user with a name", async () => {
    const parent = path.dirname(folder.dataDir);
    await chmod(parent, 0o755);
    await mkdir(folder.dataDir);
    await giveTo(somebody, folder.dataDir);
    expect(await refused({ HOME: parent }, somebody)).toMatch(/^PostgreSQL needs a user with a name, and the user 54321 has none[^\n]+$/);
  });

  it.runIf(full && somebodyReads)("builds the client into DATA_DIR if nothing may be written to the checkout", async () => {
    const parent = path.dirname(folder.dataDir);
    const checkout = path.join(parent, "checkout");
    await copyCheckout(checkout);
    await rm(path.join(checkout, "client/dist"), { recursive: true, force: true });
    await chmod(parent, 0o755);
    await copyData();
    await giveTo(somebody, folder.dataDir);
    const product = folder.start({ HOME: parent }, checkout, somebody);
    expect(await product.said(/Admin .*\n/)).toContain("building the client");
    expect((await fetch(product.url)).status).toBe(200);
    expect((await stat(path.join(folder.dataDir, "client/pages.json"))).isFile()).toBe(true);
  });

  it("runs on the Node that `npm ci` installed, whichever Node the machine has", async () => {
    const own = path.join(path.dirname(folder.dataDir), "bin");
    const calls = path.join(own, "calls");
    await mkdir(own);
    await writeFile(path.join(own, "node"), `#!/bin/sh\necho "$*" >> "${calls}"\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
    // A port that nobody can listen on ends the start at its first check.
    const env = { ...process.env, PATH: `${own}:${process.env.PATH}`, PORT: "0" };
    const start = promisify(execFile)("npm", ["start", "--silent"], { cwd: root, env });
    await expect(start).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("PORT") });
    expect(await readFile(calls, "utf8")).toMatch(/^\S*npm\S* start --silent\n$/);
  });

  it.runIf(full)("leaves no process when stopped while it is still starting", async () => {
    const product = folder.start();
    const begun = async () => (await folder.processes()).some(({ command }) => /postgres|initdb/.test(command));
    await waitUntil(begun, patienceMs, lookAgainMs);
    product.process.kill("SIGTERM");
    await product.exited;
    await expectNothingRuns();
  });
});

/** The data folder is passed on from test to test. */
describe("through crashes and starts", () => {
  let product: Product;
  beforeAll(async () => {
    folder = await createProductFolder();
    product = await startedAgain();
  }, patienceMs);
  afterAll(() => folder.remove(), patienceMs);

  it("the password is shown no second time, and a second product on the same folder is refused", async () => {
    expect(product.output()).not.toContain("password");
    expect(await refused({ PORT: "0" })).toContain("PORT");
    expect(await refused()).toMatch(new RegExp(`^DATA_DIR=${folder.dataDir} is in use by process ${product.process.pid}: [^\\n]+$`));
  });

  it("a crash of the API, the worker or the sandbox is reported in one line, and it is restarted", async () => {
    for (const part of ["api", "worker", "sandbox"] as const) {
      const name = part === "api" ? "API" : part;
      const before = await pidOf(part);
      process.kill(before, "SIGKILL");
      await product.said(`${name} has ended unexpectedly (SIGKILL); starting it again in 250 ms\n`);
      const back = async () => (await folder.processes()).some(({ pid, command }) => runsPart(command, part) && pid !== before);
      expect(await waitUntil(back, patienceMs, lookAgainMs), name).toBe(true);
      expect(await waitUntil(() => isReady(product), patienceMs), name).toBe(true);
    }
  });

  it("a crash of PostgreSQL loses no committed row and it restarts on the same port; its log stays small however much it writes", async () => {
    await onDatabase("do $$ begin for line in 1..300 loop raise warning '%', repeat('loud', 25000); end loop; end $$");
    const logs = (await readdir(folder.dataDir)).filter((name) => name.startsWith("postgres.log"));
    const sizes = await Promise.all(logs.map(async (name) => (await stat(path.join(folder.dataDir, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(10_500_000);
    await onDatabase("create schema if not exists kept; create table if not exists kept.marks as select 1 as mark");
    process.kill(Number((await readFile(path.join(folder.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[0]), "SIGKILL");
    await product.said("PostgreSQL has ended unexpectedly");
    expect(
      await waitUntil(
        () =>
          countMarks().then(
            (count) => count === 1,
            () => false,
          ),
        patienceMs,
      ),
    ).toBe(true);
    expect(await waitUntil(() => isReady(product), patienceMs)).toBe(true);
  });

  it("a crash of the supervisor ends its child processes, and the next start has the same data", async () => {
    await onDatabase("create schema if not exists kept; create table if not exists kept.marks as select 1 as mark");
    product.process.kill("SIGKILL");
    const parts = async () =>
      (await folder.processes()).filter(({ command }) => (["api", "worker", "sandbox"] as const).some((part) => runsPart(command, part)));
    await waitUntil(async () => (await parts()).length === 0, patienceMs, lookAgainMs);
    const left = await parts();
    const states = await Promise.all(left.map(({ pid }) => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")));
    expect(left, [product.output(), ...states].join("\n")).toEqual([]);
    await product.exited;
    const server = Number((await readFile(path.join(folder.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
    product = await started();
    expect(await countMarks()).toBe(1);
    expect((await folder.processes()).some(({ pid }) => pid === server)).toBe(false);
  });

  it("SIGINT leaves no process", async () => {
    await onDatabase("insert into kept.marks values (2)");
    // Under npm, Ctrl-C sends SIGINT twice: from the terminal and from npm itself.
    for (const _ of [1, 2]) product.process.kill("SIGINT");
    await product.said("stopping …");
    product.process.kill("SIGINT");
    expect(await product.exited).toBe(0);
    await expectNothingRuns();
  });

  it("a start fails with one line if the data folder is damaged, and deletes nothing; stale pid files hinder none, and every row is there", async () => {
    const at = (name: string) => path.join(folder.dataDir, name);
    const replace = (name: string, text: string) => rename(at(name), at("kept")).then(() => writeFile(at(name), text));
    const damages: [string, RegExp, () => Promise<void>][] = [
      ["postgres/PG_VERSION", /PostgreSQL 15 database/, () => replace("postgres/PG_VERSION", "15\n")],
    ];
    const moreDamages: typeof damages = [
      ["postgres/global", /does not start/, () => rename(at("postgres/global"), at("kept"))],
      ["postgres/PG_VERSION", /PG_VERSION is missing/, () => rename(at("postgres/PG_VERSION"), at("kept"))],
      ["secrets.json", /secrets\.json is missing/, () => rename(at("secrets.json"), at("kept"))],
      ["secrets.json", /secrets\.json is incomplete/, () => replace("secrets.json", "{")],
      ["postgres", /PG_VERSION is missing/, () => rename(at("postgres"), at("kept"))],
    ];
    for (const [name, line, damage] of full ? [...damages, ...moreDamages] : damages) {
      await damage();
      const said = await refused();
      expect(said).toMatch(line);
      expect(said).toMatch(/^[^\n]+$/);
      await rm(at(name), { recursive: true, force: true });
      await rename(at("kept"), at(name));
    }
    await writeFile(at("postgres/postmaster.pid"), `${process.pid}\n${folder.dataDir}/postgres\n1\n5432\n\n\n\n`);
    await writeFile(at("supervisor.pid"), `${process.pid} another-start\n`);
    await started();
    expect(await countMarks()).toBe(2);
  });
});

describe("a start", () => {
  eachInItsFolder();

  it.each(daily(["PORT", "SANDBOX_PORT"]))("fails with one line if %s is taken", async (name) => {
    const taken = createServer();
    const port = name === "PORT" ? folder.port : folder.sandboxPort;
    await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
    expect(await refused()).toMatch(new RegExp(`^${name}=${port}: the port is taken[^\\n]+${name}[^\\n]+$`));
    await new Promise((resolve) => taken.close(resolve));
    await expectNothingRuns();
  });

  it.runIf(full)("succeeds after the first initialisation was interrupted", async () => {
    const product = folder.start();
    await waitUntil(
      () =>
        stat(path.join(folder.dataDir, "postgres/PG_VERSION")).then(
          () => true,
          () => false,
        ),
      patienceMs,
      1,
    );
    for (const { pid } of await folder.processes()) signal(pid, "SIGKILL");
    await product.exited;
    expect((await readFile(path.join(folder.dataDir, "postgres.state"), "utf8")).trim()).toBe("initialising");
    await started();
  });
});
