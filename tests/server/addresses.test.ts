/** Addresses: redirects to the one plain address, allowed methods, and files that are not served. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { languages } from "#domain/languages.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps } from "#server/deps.ts";
import { plainAddress } from "#server/http/addresses.ts";
import type { App } from "#server/http/app-type.ts";
import { testEnvironment } from "#tests/support/deps.ts";

let folder: string;
let app: App;
let deps: ReturnType<typeof createDeps>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tessera-addresses-"));
  const pages = Object.fromEntries(languages.map(({ code }) => [code, { "/pricing": "pricing.html", "/blog": "blog.html" }]));
  const placeholders = { originPlaceholder: "https://o.invalid", addressPlaceholder: "ADDRESS" };
  const index = { ...placeholders, framePaths: ["/profile"], queries: {}, editions: [{ from: "2026-11-22", files: {} }], pages };
  for (const [file, text] of Object.entries({ "pages.json": JSON.stringify(index), "pricing.html": "pricing", "manifest.json": "{}" }))
    await writeFile(path.join(folder, file), text);
  deps = createDeps(readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:1/nothing" })), "test");
  app = await buildApp(deps, pathToFileURL(`${folder}/`));
});
afterAll(async () => {
  await app.close();
  await deps.close();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (method: string, url: string) => {
  const { statusCode, headers, body } = await app.inject({ method: method as "GET", url, headers: { accept: "text/html" } });
  return { statusCode, headers, body };
};

describe("a trailing or doubled slash", () => {
  it.each([
    ["/pricing/", "/pricing"],
    ["/pricing/?lang=fr&x=a/", "/pricing?lang=fr&x=a/"],
    ["/blog//an-article/", "/blog/an-article"],
    ["/about//", "/about"],
    ["/profile///", "/profile"],
    ["/api/models/", "/api/models"],
    ["//", "/"],
    ["//evil.example", "/evil.example"],
    ["//evil.example/", "/evil.example"],
    ["///evil.example//x", "/evil.example/x"],
  ])("in %s redirects to %s, never to another host", async (url, location) => {
    const answer = await ask("GET", url);
    expect([answer.statusCode, answer.headers.location]).toEqual([308, location]);
  });

  it("or a backslash, which browsers treat as a slash, never leads to another host", () => {
    for (const url of ["/\\evil.example/", "/\\/evil.example", "/\\\\evil.example"]) expect(plainAddress(url), url).toBe("/evil.example");
    for (const url of ["http://evil.example/pricing/", "\\\\evil.example/", "evil.example//"])
      expect(plainAddress(url), url).toBeUndefined();
  });

  it("redirects with 308, so that the browser keeps the method", async () => {
    expect(await ask("POST", "/api/auth/sign-in/")).toMatchObject({ statusCode: 308, headers: { location: "/api/auth/sign-in" } });
  });

  it("is not produced by unescaping the address", async () => {
    for (const url of ["/%2f%2fevil.example", "/%5cevil.example"]) expect((await ask("GET", url)).headers.location, url).toBeUndefined();
  });
});

describe("a method that an address does not allow", () => {
  it.each([
    ["DELETE", "/api/models", "GET, HEAD, OPTIONS"],
    ["PUT", "/%61pi/models", "GET, HEAD, OPTIONS"],
    ["GET", "/api/auth/sign-in", "POST, OPTIONS"],
    ["PROPFIND", "/api/auth/sign-in", "POST, OPTIONS"],
    ["POST", "/api/conversations/0193d0a5-0000-7000-8000-000000000000", "DELETE, GET, HEAD, PATCH, OPTIONS"],
    ["GET", "/api/stripe/webhook", "POST, OPTIONS"],
    ["POST", "/healthz", "GET, HEAD, OPTIONS"],
    ["POST", "/pricing", "GET, HEAD, OPTIONS"],
    ["POST", "/profile", "GET, HEAD, OPTIONS"],
    ["DELETE", "/manifest.json", "GET, HEAD, OPTIONS"],
  ])("is refused with 405 and the allowed methods: %s %s", async (method, url, allow) => {
    const answer = await ask(method, url);
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(JSON.parse(answer.body)).toMatchObject({ status: 405, code: "method_not_allowed" });
  });

  it("can be found by OPTIONS; HEAD answers as GET without a body", async () => {
    expect(await ask("OPTIONS", "/api/auth/sign-in")).toMatchObject({ statusCode: 204, headers: { allow: "POST, OPTIONS" } });
    expect(await ask("OPTIONS", "/pricing")).toMatchObject({ statusCode: 204, headers: { allow: "GET, HEAD, OPTIONS" } });
    expect(await ask("HEAD", "/pricing")).toMatchObject({ statusCode: 200, body: "" });
    expect(await ask("HEAD", "/api/models")).toMatchObject({ statusCode: 200, body: "" });
  });

  it("at an unknown address gets a 404", async () => {
    for (const method of ["GET", "POST", "OPTIONS"]) expect((await ask(method, "/api/nothing")).statusCode, method).toBe(404);
  });
});

it("the server's own list of pages, pages.json, is not served", async () => {
  expect((await ask("GET", "/pages.json")).statusCode).toBe(404);
  expect((await ask("GET", "/%70ages.json")).statusCode).toBe(404);
  expect((await ask("GET", "/manifest.json")).statusCode).toBe(200);
});
