/** The documents name only files, scripts and variables that exist. */
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { providers } from "#server/domain/models.ts";
import { listFiles, read, root } from "#tests/support/sources.ts";

const documents = [...listFiles("docs", /\.md$/), "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
/** Tables whose point is the tests that they name. */
const leastTests: Record<string, number> = { "docs/specification.md": 100, "docs/threat-model.md": 50, "docs/asvs.md": 100 };
/** Names in examples, and files that exist only while the product runs. */
const notThere = /[*<>{}…]|0042_name|^notes|\/notes|\.data|client\/dist|node_modules/;

describe("the documents", () => {
  it.each(documents)("%s names files and scripts that exist", (document) => {
    const text = read(document);
    const named = [...text.matchAll(/`((?:client|server|worker|tests|migrations|scripts|docker|docs)\/[^`\s]+)`/g)].map(
      ([, name = ""]) => name,
    );
    const linked = [...text.matchAll(/\]\(((?!https?:)[^)#]+)/g)].map(([, name = ""]) => path.join(path.dirname(document), name));
    const pictures = [...text.matchAll(/src="([^"]+)"/g)].map(([, name = ""]) => name);
    const missing = [...named.filter((name) => !notThere.test(name)), ...linked, ...pictures].filter(
      (name) => !existsSync(path.join(root, name)),
    );
    expect(missing).toEqual([]);
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const run = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it.each(documents)("%s names tests that exist", (document) => {
    const named = [...read(document).matchAll(/`(tests\/[^`]+)`((?:,? "[^"]+")+)/g)].flatMap(([, file = "", titles = ""]) =>
      [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => ({ file, title })),
    );
    expect(named.filter(({ file, title }) => !existsSync(path.join(root, file)) || !read(file).includes(title))).toEqual([]);
    expect(named.length).toBeGreaterThanOrEqual(leastTests[document] ?? 0);
  });

  it("describe every environment variable", () => {
    const files = [
      "server/config.ts",
      "server/stripe-config.ts",
      "server/embedded/settings.ts",
      "sandbox/environment.ts",
      "server/db/migrate.ts",
    ];
    const parsed = files.flatMap((file) => [...read(file).matchAll(/"([A-Z][A-Z\d_]+)"/g)].map(([, name = ""]) => name));
    const keys = providers.map((provider) => `${provider.toUpperCase()}_API_KEY`);
    const table = read("README.md");
    // Used only by tests.
    const variables = new Set([...parsed, ...keys].filter((name) => name !== "TESSERA_FAULT_POINT"));
    expect([...variables].filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
  });

  it("name the migration that defined a function last", () => {
    const map = read("ARCHITECTURE.md") + read("README.md");
    const named = [
      ...[...map.matchAll(/`(\w+)` of `(migrations\/[^`]+)`/g)].map(([, name = "", file = ""]) => ({ name, file })),
      ...[...map.matchAll(/`(migrations\/[^`]+)`: `(\w+)`/g)].map(([, file = "", name = ""]) => ({ name, file })),
    ];
    expect(named.length).toBeGreaterThan(3);
    const migrations = listFiles("migrations", /\.up\.sql$/).sort();
    const lastOf = (name: string) =>
      migrations.filter((file) => new RegExp(`create (or replace )?function ${name}\\(`).test(read(file))).at(-1);
    expect(named.filter(({ name, file }) => lastOf(name) !== file)).toEqual([]);
  });

  it("name every requirement of OWASP ASVS once, with its level", () => {
    const lists = read("tests/support/asvs-5.0.0.txt").matchAll(/^L(\d) (.+)$/gm);
    const levels = new Map([...lists].flatMap(([, level = "", numbers = ""]) => numbers.split(" ").map((number) => [number, level])));
    expect(levels.size).toBe(253);
    const rows = [...read("docs/asvs.md").matchAll(/^\| (\d+\.\d+\.\d+[^|]*) \| ([^|]*) \|/gm)];
    const named = rows.flatMap(([, numbers = "", second = ""]) => numbers.split(", ").map((number) => ({ number, second })));
    expect(named.map(({ number }) => number).sort()).toEqual([...levels.keys()].sort());
    // A row of several says why they do not apply, instead of a level.
    expect(named.filter(({ number, second }) => /^\d$/.test(second) && second !== levels.get(number))).toEqual([]);
  });

  it("keep the map of the code to 150 lines", () => {
    expect(read("ARCHITECTURE.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });
});
