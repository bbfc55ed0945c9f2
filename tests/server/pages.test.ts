/** The prerendered pages as the server sends them (docs/decisions/0009-pages-drawn-at-build.md). */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
// For its types: it adds fields to the route schemas, which registerClient uses.
import type {} from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogueEditions } from "#domain/editions.ts";
import { languages } from "#domain/languages.ts";
import type { Model } from "#domain/models.ts";
import { catalogue, modelsAt } from "#domain/models.ts";
import { Drawer } from "#server/http/drawer.ts";
import { registerClient } from "#server/http/static.ts";
import { buildClient, clientFolder as folder } from "#tests/support/client-build.ts";

const origin = "https://tessera.example";
const codes = languages.map(({ code }) => code);
/** Tests move it. */
let now = new Date("2026-11-23T12:00:00Z");
const clock = { now: () => now };
let app: FastifyInstance;
let paths: string[];

beforeAll(async () => {
  await buildClient();
  app = Fastify();
  await registerClient(app as never, { publicUrl: new URL(origin), google: false, clock }, pathToFileURL(`${folder}/`));
  const index = JSON.parse(await readFile(path.join(folder, "pages.json"), "utf8")) as { pages: Record<string, Record<string, string>> };
  paths = Object.keys(index.pages.en ?? {});
}, 120_000);
afterAll(() => app?.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers: { accept: "text/html", ...headers } });
const languageOf = (html: string) => /<html lang="([^"]*)"/.exec(html)?.[1];
const alternatesOf = (html: string) =>
  new Map([...html.matchAll(/hreflang="([^"]+)" href="([^"]+)"/g)].map(([, language = "", href = ""]) => [language, href]));
const canonicalOf = (html: string) => /<link rel="canonical" href="([^"]+)"/.exec(html)?.[1];

it("a page says from its first paint whether one can sign in with Google", async () => {
  const withGoogle = Fastify();
  await registerClient(withGoogle as never, { publicUrl: new URL(origin), google: true, clock }, pathToFileURL(`${folder}/`));
  for (const url of ["/auth", "/auth?mode=sign-up", "/profile/security"]) {
    const answer = await withGoogle.inject({ url, headers: { accept: "text/html" } });
    expect(answer.body).toMatch(/<html lang="en"[^>]* data-google>/);
    expect((await get(url)).body).not.toContain("data-google>");
  }
  await withGoogle.close();
});

it("a page knows the models that the operator added", async () => {
  const own = Fastify();
  const { upstreamModel: _id, ...model } = catalogue[0] as Model;
  const ownModels = [{ ...model, id: "own-llama", name: 'The "Llama" & <others>' }];
  const site = { publicUrl: new URL(origin), google: false, ownModels, clock };
  await registerClient(own as never, site, pathToFileURL(`${folder}/`));
  const { body } = await own.inject({ url: "/ai-models", headers: { accept: "text/html" } });
  const [, mark = ""] = /<html [^>]* data-models="([^"]*)">/.exec(body) ?? [];
  const told = mark.replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCharCode(Number(code)));
  expect(JSON.parse(told)).toEqual({ off: [], own: ownModels, prices: {} });
  expect((await get("/ai-models")).body).not.toContain("data-models");
  await own.close();
});

describe("the language of a page", () => {
  const cases: [name: string, url: string, headers: Record<string, string>, language: string][] = [
    ["English if the request names none", "/", {}, "en"],
    ["the browser's first choice", "/", { "accept-language": "fr-CA,fr;q=0.9,en;q=0.8" }, "fr"],
    ["the browser's choice by weight, not by order", "/", { "accept-language": "en;q=0.3, de;q=0.9, fr;q=0.5" }, "de"],
    ["the first one the product supports", "/", { "accept-language": "nl, sv;q=0.9, pl;q=0.1" }, "pl"],
    ["never one refused by q=0", "/", { "accept-language": "fr;q=0, ja;q=0.1" }, "ja"],
    ["English for *", "/", { "accept-language": "*" }, "en"],
    ["English for an invalid header", "/", { "accept-language": ";;q=,,=;" }, "en"],
    ["the stored choice before the browser's", "/", { "accept-language": "fr", cookie: "a=b; language=it; c=d" }, "it"],
    ["the browser's if the stored choice is unknown", "/", { "accept-language": "fr", cookie: "language=xx" }, "fr"],
    ["not taken from a cookie of another name", "/", { "accept-language": "fr", cookie: "my-language=it; xlanguage=de" }, "fr"],
    ["the one in the address before the stored choice", "/?lang=ru", { "accept-language": "fr", cookie: "language=it" }, "ru"],
    ["the stored choice if the address names no known one", "/?lang=xx", { cookie: "language=it" }, "it"],
  ];
  for (const [name, url, headers, language] of cases) {
    it(`is ${name}`, async () => {
      const answer = await get(url, headers);
      expect(answer.statusCode).toBe(200);
      expect(languageOf(answer.body)).toBe(language);
      expect(answer.headers["content-language"]).toBe(language);
    });
  }

  it("is negotiated: the response is private and has Vary; with ?lang= it may be cached by everybody", async () => {
    const negotiated = await get("/pricing", { "accept-language": "de" });
    expect(negotiated.headers["cache-control"]).toBe("private, no-cache");
    expect(negotiated.headers.vary).toMatch(/Cookie/);
    expect(negotiated.headers.vary).toMatch(/Accept-Language/);
    const named = await get("/pricing?lang=de", { "accept-language": "fr", cookie: "language=it" });
    expect(named.headers["cache-control"]).toMatch(/^public, max-age=\d+$/);
    expect(named.headers.vary).not.toMatch(/Cookie|Language/);
    expect(named.headers["set-cookie"]).toBeUndefined();
  });
});

describe("a page", () => {
  it("exists in every language, with its texts, one h1, a title, a description and no inline code", async () => {
    for (const url of paths) {
      for (const code of codes) {
        const { statusCode, body } = await get(`${url}?lang=${code}`);
        expect(statusCode, `${url} ${code}`).toBe(200);
        expect(languageOf(body)).toBe(code);
        expect(body.match(/<h1/g), `${url} ${code}`).toHaveLength(1);
        expect(body).toMatch(/<title>[^<]*Tessera<\/title>/);
        if (!/name="robots" content="noindex"/.test(body)) {
          const description = /<meta name="description" content="([^"]+)"/.exec(body)?.[1] ?? "";
          expect([...description].length, `${url} ${code}: ${description}`).toBeGreaterThan(40);
        }
        expect(body).not.toMatch(/ style="|<style|\son\w+="/);
        const scripts = [...body.matchAll(/<script([^>]*)>/g)].map(([, attributes = ""]) => attributes);
        for (const script of scripts) expect(script).toMatch(/src="\/|type="application\/ld\+json"/);
        expect(body).not.toContain("origin.invalid");
      }
    }
  });

  it("shows what the specification lists for it: links, claims, cards, kinds of models, dates (specification §1, §2, §9)", async () => {
    const expectAll = async (url: string, parts: readonly string[]) => {
      const { body } = await get(`${url}?lang=en`);
      for (const part of parts) expect(body, `${url} lacks ${part}`).toContain(part);
      return body;
    };
    const ways = ["content-creation", "image-generation", "getting-started"].map((name) => `href="/${name}"`);
    const claims = ["15+", "14 days", "75%", "40%", "99.9%", "7,000 developers", "300 businesses", "45 countries"];
    const sold = ["$19.99", "$39.99", "$49.99", "$99.99", "300 credits", "600 credits", "750 credits", "1,250 credits", "Most Popular"];
    const professional = ["12hr priority support", "Team collaboration", "Commercial rights"];
    const enterprise = ["24/7 support", "Custom tuning", "Dedicated manager"];
    const home = await expectAll("/", [...ways, ...claims, ...sold, ...professional, ...enterprise]);
    const cards = [...home.matchAll(/<li[^>]*aria-labelledby="plan-(\w+)"/g)].map(([, plan]) => plan);
    expect(cards).toEqual(["starter", "basic", "professional", "enterprise"]);
    expect(home).toMatch(/id="plan-basic"[^>]*>Basic<\/h3><span[^>]*>Most Popular</);
    const pricing = await expectAll("/pricing", ["save 20%", ...sold]);
    // Eight questions, and a list of models for each of the four plans.
    expect(pricing.match(/<details/g)).toHaveLength(12);
    const kinds = ["all", "text", "image", "audio", "video", "search"].map((kind) => `value="${kind}"`);
    await expectAll("/ai-models", [...kinds, "GPT-6 Luna", "GPT-5 Mini", "Grok Video 1.5"]);
    await expectAll("/about", ["People on their own", "Developers", "Small businesses", ...claims]);
    await expectAll("/terms", ["Last updated January 2024"]);
    await expectAll("/privacy", ["Last updated January 2025"]);
  });

  it("names its canonical address and all alternates, which name each other", async () => {
    for (const url of paths) {
      const bare = await get(url);
      if (/name="robots" content="noindex"/.test(bare.body)) continue;
      const expected = new Map([
        ...codes.map((code) => [code as string, `${origin}${url}${code === "en" ? "" : `?lang=${code}`}`] as const),
        ["x-default", `${origin}${url}`] as const,
      ]);
      for (const code of codes) {
        const { body } = await get(`${url}?lang=${code}`);
        expect(alternatesOf(body), `${url} ${code}`).toEqual(expected);
        expect(canonicalOf(body)).toBe(expected.get(code));
      }
    }
  });

  it("has a preview with an existing picture, and valid structured data", async () => {
    for (const url of paths) {
      const { body } = await get(url);
      if (/name="robots" content="noindex"/.test(body)) continue;
      const picture = /property="og:image" content="([^"]+)"/.exec(body)?.[1] ?? "";
      expect(picture.startsWith(`${origin}/og/`), url).toBe(true);
      const file = await get(picture.slice(origin.length));
      expect(file.headers["content-type"]).toBe("image/png");
      expect(file.rawPayload.length).toBeLessThanOrEqual(60 * 1024);
      for (const [, json = ""] of body.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/g)) {
        expect(JSON.parse(json)).toMatchObject({ "@context": "https://schema.org" });
      }
    }
    const home = (await get("/")).body;
    expect(home).toContain('"@type":"Organization"');
    const pricing = (await get("/pricing")).body;
    for (const expected of ['"@type":"Offer"', '"price":"39.99"', '"priceCurrency":"USD"', '"@type":"FAQPage"']) {
      expect(pricing).toContain(expected);
    }
  });

  it("is answered with 304 if the browser has it already, in each encoding", async () => {
    for (const encoding of ["br", "gzip", "identity"]) {
      const headers = { "accept-encoding": encoding, "accept-language": "ja" };
      const first = await get("/pricing", headers);
      const etag = String(first.headers.etag);
      const again = await get("/pricing", { ...headers, "if-none-match": `"other", W/${etag}` });
      expect(again.statusCode).toBe(304);
      expect(again.body).toBe("");
      expect(again.headers.vary).toBe(first.headers.vary);
      // The same ETag does not match the page in another language.
      expect((await get("/pricing", { ...headers, "accept-language": "fr", "if-none-match": etag })).statusCode).toBe(200);
    }
  });

  it("is compressed as well as the browser supports", async () => {
    const plain = (await get("/")).rawPayload;
    const brotli = await get("/", { "accept-encoding": "gzip, deflate, br, zstd" });
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain)).toBe(true);
    const gzip = await get("/", { "accept-encoding": "gzip, br;q=0" });
    expect(gzip.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzip.rawPayload).equals(plain)).toBe(true);
  });

  it("answers HEAD as GET, without the body", async () => {
    const head = await app.inject({ method: "HEAD", url: "/pricing?lang=fr" });
    expect(head.statusCode).toBe(200);
    expect(head.body).toBe("");
    expect(head.headers["content-language"]).toBe("fr");
  });
});

describe("an address without a page", () => {
  it("is answered 404 with the not-found page in the reader's language, the address shown and escaped", async () => {
    const answer = await get('/nowhere/<img src=x onerror="a">', { "accept-language": "pl" });
    expect(answer.statusCode).toBe(404);
    expect(languageOf(answer.body)).toBe("pl");
    expect(answer.body).toContain("/nowhere/&#60;img src=x onerror=&#34;a&#34;&#62;");
    expect(answer.body).not.toContain("<img src=x");
    expect(answer.body).toContain('<meta name="robots" content="noindex">');
    expect(answer.headers["cache-control"]).toBe("private, no-cache");
    for (const url of ["/blog/unknown", "/pricing/deeper", "/x".repeat(300)]) expect((await get(url)).statusCode, url).toBe(404);
  });

  it("gets the frame, with noindex, where only a signed-in person has a page", async () => {
    for (const url of ["/profile", "/admin", "/admin/people/1"]) {
      const answer = await get(url, { "accept-language": "de" });
      expect(answer.statusCode, url).toBe(200);
      expect(languageOf(answer.body)).toBe("de");
      expect(answer.body).toContain('<meta name="robots" content="noindex">');
      expect(answer.body).not.toContain("data-path");
    }
  });

  it("of an asset or the API gets a 404 without the page", async () => {
    for (const url of ["/assets/index-gone.js", "/assets/nothing", "/api/nothing", "/icons/none.png"]) {
      const answer = await get(url);
      expect(answer.statusCode, url).toBe(404);
      expect(answer.headers["content-type"]).toContain("json");
    }
  });

  it("can't be used to read files that are not served", async () => {
    const urls = [
      "/pages/en/index.html",
      "/index.html",
      "/index%2ehtml",
      "/.stamp",
      "/pages.json",
      "/pages%2ejson",
      "/kept/releases.json",
      "/releases.json",
      "/../package.json",
      "/..%2fpackage.json",
    ];
    for (const url of [...urls, "/%2e%2e/%2e%2e/package.json", "/assets/..%5c..%5cpackage.json", "/pages%2fen%2findex.html"]) {
      const answer = await get(url);
      expect(answer.statusCode, url).toBeGreaterThanOrEqual(400);
      expect(answer.statusCode, url).toBeLessThan(500);
      expect(answer.body, url).not.toContain("origin.invalid");
    }
  });
});

describe("files for crawlers and browsers", () => {
  it("the sitemap lists every page in every language, each with all alternates", async () => {
    const { body, headers } = await get("/sitemap.xml");
    expect(headers["content-type"]).toContain("application/xml");
    const entries = [...body.matchAll(/<url>(.*?)<\/url>/gs)].map(([, entry = ""]) => entry);
    const addresses = entries.map((entry) => /<loc>(.*?)<\/loc>/.exec(entry)?.[1]);
    expect(new Set(addresses).size).toBe(addresses.length);
    for (const url of paths) {
      const { body: page } = await get(url);
      const listed = !/name="robots" content="noindex"/.test(page);
      for (const code of codes) expect(addresses.includes(`${origin}${url}${code === "en" ? "" : `?lang=${code}`}`), url).toBe(listed);
    }
    for (const entry of entries) expect([...entry.matchAll(/hreflang=/g)]).toHaveLength(codes.length + 1);
  });

  it("robots.txt names the sitemap; the feed lists the articles", async () => {
    expect((await get("/robots.txt")).body).toContain(`Sitemap: ${origin}/sitemap.xml`);
    const feed = await get("/blog/rss.xml");
    expect(feed.headers["content-type"]).toContain("application/rss+xml");
    const articles = paths.filter((url) => url.startsWith("/blog/"));
    expect(articles.length).toBeGreaterThan(0);
    for (const url of articles) expect(feed.body).toContain(`<link>${origin}${url}</link>`);
  });

  it("assets are cached for good and sent in brotli or gzip", async () => {
    const script = /<meta name="scripts" content="(\S+)/.exec((await get("/")).body)?.[1] ?? "";
    const plain = await get(script);
    expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const brotli = await get(script, { "accept-encoding": "br" });
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotli.headers["content-type"]).toContain("javascript");
    expect(brotliDecompressSync(brotli.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect((await get(script, { "accept-encoding": "gzip" })).headers["content-encoding"]).toBe("gzip");
  });
});

describe("the models of the day", () => {
  const namesIn = (html: string) => models.filter(({ name }) => html.includes(`>${name}<`)).map(({ id }) => id);
  const models = catalogue.filter(({ id }) => id !== "sonar");

  it.each(catalogueEditions)("are those that the pages name from %s on, without a new build", async (edition) => {
    now = new Date(`${edition}T00:00:00Z`);
    const offered = modelsAt(now).filter(({ id }) => id !== "sonar");
    for (const url of ["/pricing", "/ai-models", "/ai-models?lang=ja"]) {
      const { body } = await get(url);
      expect(body).toContain(` data-catalogue="${edition}"`);
      expect(namesIn(body).toSorted(), url).toEqual(offered.map(({ id }) => id).toSorted());
    }
    expect((await get("/")).body).toContain(`>${offered.length + 1} AI models`);
  });

  it("change with the day, and the ETag with them; a page that the browser kept from yesterday is sent anew", async () => {
    now = new Date("2026-12-10T23:59:59Z");
    const yesterday = await get("/pricing");
    expect((await get("/pricing", { "if-none-match": String(yesterday.headers.etag) })).statusCode).toBe(304);
    now = new Date("2026-12-11T00:00:00Z");
    const today = await get("/pricing", { "if-none-match": String(yesterday.headers.etag) });
    expect([yesterday.body.includes("GPT-5 Mini"), today.statusCode, today.body.includes("GPT-5 Mini")]).toEqual([true, 200, false]);
    // What names no model differs only in the day.
    now = new Date("2026-11-23T12:00:00Z");
    const before = (await get("/contact")).body;
    now = new Date("2026-12-11T00:00:00Z");
    expect((await get("/contact")).body.replace("2026-12-11", "2026-11-22")).toBe(before);
  });

  it("are without those that are switched off, and with the operator's own, in what is counted, named, priced and hydrated", async () => {
    now = new Date("2026-11-23T12:00:00Z");
    let off = ["gpt-6-luna", "sonar"];
    const named = { id: "own-llama", name: 'The "Llama"', provider: "own:shelf" as const, until: "2026-11-25" };
    const { upstreamModel: _id, ...llama } = { ...(catalogue[0] as Model), ...named };
    const site = {
      publicUrl: new URL(origin),
      google: false,
      ownModels: [llama],
      clock,
      switchedOff: () => off,
      changedPrices: () => ({ "mistral-small-2603": 17 }),
    };
    const operated = Fastify();
    await registerClient(operated as never, site, pathToFileURL(`${folder}/`));
    const open = async (url: string, etag = "") => operated.inject({ url, headers: { accept: "text/html", "if-none-match": etag } });
    const offered = modelsAt(now);
    const count = offered.length - 2 + 1;

    const pricing = await open("/pricing");
    expect(pricing.body).toContain(' data-models="{&#34;off&#34;:[&#34;gpt-6-luna&#34;,&#34;sonar&#34;]');
    expect(namesIn(pricing.body)).toEqual(namesIn((await get("/pricing")).body).filter((id) => id !== "gpt-6-luna"));
    expect(pricing.body).toContain(">The &quot;Llama&quot;<");
    expect(pricing.body).toContain("17 credits per answer");
    expect((await get("/pricing")).body).not.toContain("17 credits per answer");
    expect(pricing.body).not.toContain("GPT-6 Luna");
    expect((await get("/pricing")).body).toContain("GPT-6 Luna");
    expect((await open("/")).body).toContain(`>${count} AI models`);
    expect((await open("/?lang=ja")).body).not.toContain("GPT-6 Luna");
    // A guide names another one of the same kind and price, and its prompt cards open it.
    const guides = await Promise.all(["/getting-started", "/content-creation", "/small-business-ai"].map((url) => open(url)));
    for (const guide of guides) expect(guide.body).not.toMatch(/GPT-6 Luna|\{\{/);
    // The list of models says that it is not available.
    expect((await open("/ai-models")).body).toContain("GPT-6 Luna");

    const etag = String(pricing.headers.etag);
    expect((await open("/pricing", etag)).statusCode).toBe(304);
    off = [];
    const back = await open("/pricing", etag);
    expect([back.statusCode, back.body.includes("GPT-6 Luna"), back.body.includes("&#34;off&#34;:[]")]).toEqual([200, true, true]);

    // The operator's model ends within an edition: conversations keep its name, and no page counts or names it any more.
    now = new Date("2026-11-25T00:00:00Z");
    const after = await open("/pricing", String(back.headers.etag));
    expect([after.statusCode, after.body.includes(">The &quot;Llama&quot;<")]).toEqual([200, false]);
    expect(after.body).toContain("&#34;ended&#34;:[&#34;own-llama&#34;]");
    expect((await open("/")).body).toContain(`>${offered.length} AI models`);
    await operated.close();
  });

  it("are those of the edition while pages can't be drawn, which is logged; a program that hangs is ended", async () => {
    const broken = await mkdtemp(path.join(tmpdir(), "undrawn-"));
    for (const name of await readdir(folder)) if (name !== "drawing") await symlink(path.join(folder, name), path.join(broken, name));
    await mkdir(path.join(broken, "drawing"));
    const program = path.join(broken, "drawing/drawing.mjs");
    const lines: string[] = [];
    const site = { publicUrl: new URL(origin), google: false, clock, switchedOff: () => ["gpt-6-luna"] };
    const operated = Fastify({ logger: { stream: { write: (line: string) => void lines.push(line) } } });
    await registerClient(operated as never, site, pathToFileURL(`${broken}/`));
    const programs = { "/about": "throw new Error('no program')", "/pricing": "export const openDrawing = () => process.exit(1)" };
    for (const [url, source] of Object.entries(programs)) {
      await writeFile(program, source);
      const page = await operated.inject({ url, headers: { accept: "text/html" } });
      expect([page.statusCode, page.body.includes("</html>")]).toEqual([200, true]);
    }
    expect(lines.filter((line) => line.includes("a page could not be drawn"))).toHaveLength(2);
    expect((await operated.inject({ url: "/no-such-page", headers: { accept: "text/html" } })).statusCode).toBe(404);
    await operated.close();

    await writeFile(program, "export const openDrawing = () => new Promise(() => setInterval(() => {}, 1_000))");
    const drawer = new Drawer(pathToFileURL(`${broken}/`), { edition: "2026-11-22", off: [], own: [], prices: {} }, 50);
    await expect(drawer.draw("pages/en/index.html")).rejects.toThrow("does not answer");
    drawer.close();
    await rm(broken, { recursive: true });
  });

  it("are drawn by a program that needs no packages, because the API's image has none of the client's", async () => {
    const files = (await readdir(path.join(folder, "drawing"))).map((name) => path.join(folder, "drawing", name));
    const sources = await Promise.all(files.map((file) => readFile(file, "utf8")));
    const imported = sources.flatMap((source) =>
      [...source.matchAll(/^(?:import|export) (?:[^"']* from )?"([^"]+)"/gm)].map(([, name]) => name),
    );
    expect(imported.length).toBeGreaterThan(50);
    expect(imported.filter((name) => !/^(\.\/|node:)/.test(name ?? ""))).toEqual([]);
  });

  it("are the first edition's on a day before it, and the last one's for good", async () => {
    for (const [day, edition] of [
      ["2020-01-01", catalogueEditions.at(0)],
      ["2035-01-01", catalogueEditions.at(-1)],
    ]) {
      now = new Date(`${day}T00:00:00Z`);
      expect((await get("/pricing")).body).toContain(` data-catalogue="${edition}"`);
    }
  });
});
