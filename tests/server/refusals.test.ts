/** Error responses must not be cached in place of a page, have the same security headers, and say of money only what is so. */
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
import { startApiWorld } from "#tests/support/billing-world.ts";
import { testEnvironment } from "#tests/support/deps.ts";

const clock = { now: () => new Date("2026-11-23T12:00:00Z") };
let parent: string | undefined;
let app: App;
afterEach(async () => {
  await app.close();
  if (parent) await rm(parent, { recursive: true, force: true });
});

/** Serves a client whose list names one page and the frame, and whose page files are missing. */
async function serveClient(): Promise<void> {
  parent = await mkdtemp(path.join(tmpdir(), "tessera-refusals-"));
  const pages = Object.fromEntries(languages.map(({ code }) => [code, { "/": `pages/${code}/index.html` }]));
  const index = {
    originPlaceholder: "https://origin.invalid",
    addressPlaceholder: "ADDRESS",
    framePaths: ["/profile"],
    queries: {},
    editions: [{ from: "2026-11-22", files: {} }],
    pages,
  };
  await writeFile(path.join(parent, "pages.json"), JSON.stringify(index));
  app = Fastify({ logger: false }) as never;
  registerProblems(app);
  await registerClient(app, { publicUrl: new URL("https://tessera.example"), google: false, clock }, pathToFileURL(`${parent}/`));
}

test("the error for a page whose file can't be read is not cached, although the page itself could be", async () => {
  await serveClient();
  for (const url of ["/?lang=fr", "/profile?lang=fr", "/nowhere?lang=fr"]) {
    const answer = await app.inject({ url, headers: { accept: "text/html" } });
    expect([answer.statusCode, answer.headers["cache-control"]], url).toEqual([500, "no-store"]);
  }
});

test("the refusal for a request that does not accept HTML is not cached in place of the page", async () => {
  await serveClient();
  const answer = await app.inject({ url: "/profile?lang=fr", headers: { accept: "application/json" } });
  expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([404, "no-store"]);
});

test("the refusal of a malformed address has the same security headers as every response", async () => {
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

test("an error on our side says that nothing was charged only if an answer was asked for; what Stripe did before it is not undone", async () => {
  const world = await startApiWorld();
  app = world.app;
  const { headers } = await world.person();
  await world.database.asOwner("alter table auth_sessions rename to damaged");
  const said = async (method: "GET" | "POST", url: string) => {
    const { statusCode, body } = await app.inject({ method, url, headers });
    return [statusCode, (JSON.parse(body) as { detail: string }).detail.replace("Something went wrong on our side. ", "")];
  };
  const unclear = [500, "It may have been done all the same; look before you try again"];
  expect(await said("POST", "/api/generations")).toEqual([500, "Nothing was charged"]);
  expect(await said("POST", "/api/billing/plan-change")).toEqual(unclear);
  expect(await said("GET", "/api/account")).toEqual([500, "Try again in a moment"]);
  await world.close();
});
