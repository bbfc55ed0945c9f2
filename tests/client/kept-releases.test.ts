/** A build keeps the assets of the last two releases (docs/decisions/0009). */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
// For its types: it adds fields to the route schemas, which the file serving uses.
import type {} from "@fastify/swagger";
import Fastify from "fastify";
import { afterEach, beforeEach, expect, it } from "vitest";
import { putInPlace } from "#client/build/releases.ts";
import { registerClient } from "#server/http/static.ts";

const clock = { now: () => new Date("2026-11-23T12:00:00Z") };
let parent: string;
let place: string;
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "tessera-releases-"));
  place = path.join(parent, "dist");
});
afterEach(() => rm(parent, { recursive: true, force: true }));

/** Writes a complete small build of a release into the served folder. */
async function release(name: string, assets: readonly string[]): Promise<void> {
  const built = path.join(parent, `built-${name}`);
  await mkdir(path.join(built, "assets"), { recursive: true });
  for (const asset of assets) await writeFile(path.join(built, "assets", asset), `// ${asset} of ${name}`);
  await writeFile(
    path.join(built, "pages.json"),
    JSON.stringify({ release: name, framePaths: [], queries: {}, editions: [{ from: "2026-11-22", files: {} }], pages: { en: {} } }),
  );
  await putInPlace(built, place);
}

const current = () => readdir(path.join(place, "assets"));
const kept = async () => (await readdir(path.join(place, "kept/assets"))).sort();

it("a build keeps the assets of two releases besides the current one, and removes older ones", async () => {
  await release("a", ["shared.js", "a.js"]);
  expect(await kept()).toEqual([]);
  await release("b", ["shared.js", "b.js"]);
  expect(await kept()).toEqual(["a.js", "shared.js"]);
  await release("c", ["c.js"]);
  expect(await kept()).toEqual(["a.js", "b.js", "shared.js"]);
  await release("d", ["d.js"]);
  expect(await current()).toEqual(["d.js"]);
  expect(await kept()).toEqual(["b.js", "c.js", "shared.js"]);
  expect((await readdir(parent)).sort()).toEqual(["dist"]);
});

it("a release that is built again counts once, and one that is built again later is the current one", async () => {
  await release("a", ["a.js"]);
  await release("b", ["b.js"]);
  await release("b", ["b.js"]);
  expect(await kept()).toEqual(["a.js"]);
  await release("a", ["a.js"]);
  expect(await current()).toEqual(["a.js"]);
  expect(await kept()).toEqual(["b.js"]);
});

it("kept assets are served with the same long cache time as current ones, and nothing else of those releases is", async () => {
  await release("a", ["a.js"]);
  await release("b", ["b.js"]);
  const app = Fastify();
  await registerClient(app as never, { publicUrl: new URL("https://tessera.example"), google: false, clock }, pathToFileURL(`${place}/`));
  for (const asset of ["a.js", "b.js"]) {
    const answer = await app.inject(`/assets/${asset}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  }
  for (const address of ["/kept/assets/a.js", "/kept/releases.json", "/releases.json"])
    expect((await app.inject(address)).statusCode).toBe(404);
  expect(await readFile(path.join(place, "kept/releases.json"), "utf8")).toContain('"a"');
  await app.close();
});
