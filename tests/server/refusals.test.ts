/** What a refusal leaves behind in caches, and what it says to them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import Fastify from "fastify";
import { afterEach, expect, test } from "vitest";
import { languages } from "#domain/languages.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import type { App } from "#server/http/app-type.ts";
import { registerProblems } from "#server/http/problem.ts";
import { registerClient } from "#server/http/static.ts";
import { testEnvironment } from "#tests/support/deps.ts";

let parent: string | undefined;
let app: App;
afterEach(async () => {
  await app.close();
  if (parent) await rm(parent, { recursive: true, force: true });
});

/** A client of one page and the frame, whose files may be missing. */
async function serveClient(): Promise<void> {
  parent = await mkdtemp(path.join(tmpdir(), "tessera-refusals-"));
  const pages = Object.fromEntries(languages.map(({ code }) => [code, { "/": `pages/${code}/index.html` }]));
  const index = {
    originPlaceholder: "https://origin.invalid",
    addressPlaceholder: "ADDRESS",
    framePaths: ["/profile"],
    queries: {},
    pages,
  };
  await writeFile(path.join(parent, "pages.json"), JSON.stringify(index));
  app = Fastify({ logger: false }) as never;
  registerProblems(app);
  await registerClient(app, new URL("https://tessera.example"), pathToFileURL(`${parent}/`));
}

test("a page that can't be read is an error nobody keeps, though the page itself may be kept by all", async () => {
  await serveClient();
  for (const url of ["/?lang=fr", "/profile?lang=fr", "/nowhere?lang=fr"]) {
    const answer = await app.inject({ url, headers: { accept: "text/html" } });
    expect([answer.statusCode, answer.headers["cache-control"]], url).toEqual([500, "no-store"]);
  }
});

test("a program that asks for no page can't leave its refusal where others ask for the page", async () => {
  await serveClient();
  const answer = await app.inject({ url: "/profile?lang=fr", headers: { accept: "application/json" } });
  expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
});

test("an address that can't be read is refused under the same policy as everything else", async () => {
  const config = readConfig(
    testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" }, { PUBLIC_URL: "https://tessera.example" }),
  );
  const deps = createDeps(config, "test");
  app = await buildApp(deps);
  app.addHook("onClose", () => deps.close());
  const [unreadable, unknown] = [await app.inject("/%"), await app.inject("/api/nothing")];
  expect([unreadable.statusCode, unknown.statusCode]).toEqual([404, 404]);
  const policies = Object.entries(unknown.headers).filter(([name]) => /policy|options|transport/.test(name));
  expect(policies.length).toBeGreaterThan(5);
  expect(unreadable.headers).toMatchObject(Object.fromEntries(policies));
});
