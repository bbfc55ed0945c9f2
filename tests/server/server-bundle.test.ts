/** The bundle that `npm start` makes of the server's code, to start from it the next time (server/embedded/server-bundle.ts). */
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitUntil } from "#server/embedded/processes.ts";
import { full } from "#tests/support/full.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { copyCheckout, createProductFolder, runsPart } from "#tests/support/supervised.ts";
import { Visitor } from "#tests/support/visitor.ts";

const patienceMs = 120_000;
let checkout: string;

const bundles = () => path.join(checkout, "node_modules/.cache/tessera-server");
const run = async (...given: string[]) => (await promisify(execFile)(process.execPath, given, { cwd: checkout })).stdout.trim();
/** Makes the bundle as a start does. Throws if that process fails. */
async function makeBundle(): Promise<void> {
  const child = fork(path.join(checkout, "scripts/bundle-server.ts"), [], {
    cwd: checkout,
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  expect(await once(child, "close")).toEqual([0, null]);
}
/** What `npm start` finds. */
const findBundle = () =>
  run("--input-type=module", "-e", 'console.log(await (await import("./server/embedded/server-bundle.ts")).findBundle())');

beforeAll(async () => {
  checkout = await mkdtemp(path.join(tmpdir(), "tessera-test-product-"));
  await copyCheckout(checkout);
}, patienceMs);
afterAll(() => rm(checkout, { recursive: true, force: true }), patienceMs);

it("is what a start runs, with the files beside the sources: pages, mails and their texts", { timeout: patienceMs }, async () => {
  expect(await findBundle()).toBe("undefined");
  await makeBundle();
  expect(path.dirname(await findBundle())).toBe(bundles());
  const folder = await createProductFolder({ database: await createTestDatabase() });
  try {
    const product = folder.start({}, checkout);
    await product.said(/Admin .*\n/);
    const commands = (await folder.processes()).map(({ command }) => command);
    for (const part of ["api", "worker", "sandbox"] as const) {
      const command = commands.find((one) => runsPart(one, part));
      expect(command, part).toContain("tessera-server");
    }
    const page = await fetch(product.url, { headers: { "accept-language": "ja" } });
    expect([page.status, page.headers.get("content-language")]).toEqual([200, "ja"]);
    const visitor = await new Visitor(product.url, product.sandboxUrl).join();
    expect(visitor.session?.access_token).toBeTruthy();
    product.process.kill("SIGINT");
    expect(await product.exited).toBe(0);
  } finally {
    await folder.remove();
  }
});

it("has no file that can't be loaded, also of those that are loaded late", { timeout: patienceMs }, async () => {
  const folder = await findBundle();
  const late = (await readdir(folder)).filter((name) => /^(api|worker|sandbox)-.*\.mjs$/.test(name));
  expect(late.length).toBeGreaterThan(10);
  const addresses = late.map((name) => pathToFileURL(path.join(folder, name)).href);
  await run("--input-type=module", "-e", `for (const file of ${JSON.stringify(addresses)}) await import(file)`);
});

it("is made anew once a source has changed; of several the last two are kept, and those that were not finished go", {
  timeout: patienceMs,
}, async () => {
  const [first = ""] = await readdir(bundles());
  for (const name of ["earlier", "unfinished.1"]) await mkdir(path.join(bundles(), name));
  await utimes(path.join(bundles(), "unfinished.1"), new Date(0), new Date(0));
  await appendFile(path.join(checkout, "server/domain/plans.ts"), "\n");
  expect(await findBundle()).toBe("undefined");
  await makeBundle();
  const found = path.basename(await findBundle());
  expect((await readdir(bundles())).sort()).toEqual([found, "earlier"].sort());
  expect(found).not.toBe(first);
});

it.runIf(full)("is made by a start that finds none", { timeout: patienceMs }, async () => {
  await rm(bundles(), { recursive: true });
  const folder = await createProductFolder({ database: await createTestDatabase() });
  try {
    const product = folder.start({}, checkout);
    await product.said(/Admin .*\n/);
    expect(await waitUntil(async () => (await findBundle()) !== "undefined", patienceMs, 500)).toBe(true);
  } finally {
    await folder.remove();
  }
});
