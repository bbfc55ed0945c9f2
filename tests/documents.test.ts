/** Documents and comments name only files, scripts, variables and decisions that exist. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { providers } from "#server/domain/models.ts";
import { listFiles, read, root } from "#tests/support/sources.ts";
import { testNames } from "#tests/support/test-calls.ts";

const documents = [...listFiles("docs", /\.md$/), "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
/** Tables whose point is the tests that they name. */
const leastTests: Record<string, number> = {
  "docs/specification.md": 100,
  "docs/threat-model.md": 19,
  "docs/threats.md": 50,
  "docs/asvs.md": 100,
};
/** Names in examples, and files that exist only while the product runs. */
const notThere = /[*<>{}…]|0042_name|^notes|\/notes|\.data|client\/dist|node_modules/;

const names = new Map<string, string[]>();

/**
 * Whether a test of the file, or a row that it is repeated for, has this name: it begins with the words or, if there are three or more,
 * contains them. Fewer words occur in too many names.
 */
function isNameIn(file: string, words: string): boolean {
  const known = names.get(file) ?? testNames(file);
  names.set(file, known);
  const [first = "", ...more] = words.split(" ");
  return known.some((name) => name.startsWith(words) || (first && more.length >= 2 && ` ${name}`.includes(` ${words}`)));
}

describe("the documents", () => {
  it.each(documents)("%s names files and scripts that exist", (document) => {
    const text = read(document);
    const named = [...text.matchAll(/`((?:client|server|worker|sandbox|tests|migrations|scripts|docker|docs)\/[^`\s]+)`/g)].map(
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
    expect(named.filter(({ file, title }) => !existsSync(path.join(root, file)) || !isNameIn(file, title))).toEqual([]);
    expect(named.length).toBeGreaterThanOrEqual(leastTests[document] ?? 0);
  });

  it("name tests by their names, not by words of a file", () => {
    const file = "tests/server/generations-refusals.test.ts";
    expect(["no model", "model", "A model that", "Model must be selected"].map((words) => isNameIn(file, words))).toEqual([
      true,
      false,
      false,
      false,
    ]);
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

  it("name in the map of the code, also where the name is short, files and folders that exist", () => {
    const folders = ["client", "server", "worker", "sandbox", "tests", "migrations", "scripts", "docker", "docs"];
    const files = [...folders.flatMap((folder) => listFiles(folder, /./)), ...readdirSync(root)].map((file) => `/${file}`);
    const exists = (name: string) => files.some((file) => (name.endsWith("/") ? file.includes(`/${name}`) : file.endsWith(`/${name}`)));
    const named = [...read("ARCHITECTURE.md").matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:tsx?|sql|md)))`/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => !exists(name))).toEqual([]);
    expect(["read-nothing.ts", "nowhere/"].filter(exists)).toEqual([]);
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

  it("name functions of the database that the server calls, itself or through another", () => {
    const bodies = new Map<string, string>();
    for (const file of listFiles("migrations", /\.up\.sql$/).sort())
      for (const [, name = "", body = ""] of read(file).matchAll(/create (?:or replace )?function (\w+)\([^$]*\$\$([\s\S]*?)\$\$/g))
        bodies.set(name, body);
    const callsIn = (text: string) => [...text.matchAll(/(\w+)\(/g)].map(([, name = ""]) => name).filter((name) => bodies.has(name));
    const called = new Set(listFiles("server", /\.ts$/).flatMap((file) => callsIn(read(file))));
    // What is added to a set while it is read is read too.
    for (const name of called) for (const other of callsIn(bodies.get(name) ?? "")) called.add(other);
    const documents = ["ARCHITECTURE.md", "README.md"].map(read).join("");
    const named = [...documents.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).filter((name) => bodies.has(name));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !called.has(name))).toEqual([]);
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

  it("of decisions are all in the index, in order and under their titles", () => {
    const records = listFiles("docs/decisions", /\d{4}-[^/]+\.md$/).sort();
    const listed = [...read("docs/decisions/README.md").matchAll(/^(\d+)\. \[([^\]]+)\]\(([^)]+)\)/gm)];
    expect(listed.map(([, number, title, file]) => [`docs/decisions/${file}`, `# ${number}. ${title}`])).toEqual(
      records.map((file) => [file, read(file).split("\n", 1)[0]]),
    );
    expect(records.filter((file) => !read(file).startsWith(`# ${Number(path.basename(file).slice(0, 4))}. `))).toEqual([]);
  });

  it("keep the map of the code to 150 lines", () => {
    expect(read("ARCHITECTURE.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  it("keep the threat model to 650 words, so that it fits one printed page", () => {
    expect(read("docs/threat-model.md").trim().split(/\s+/).length).toBeLessThanOrEqual(650);
  });
});

/** Files that are made later or elsewhere. */
const madeLater = /^(DATA_DIR\/secrets\.json|pages\.json|migrations\/0001_name\.up\.sql)$/;

describe("comments", () => {
  const folders = ["client", "server", "worker", "sandbox", "scripts", "tests", "migrations", "docker", "docs"];
  const known = [...folders.flatMap((folder) => listFiles(folder, /./)), ...readdirSync(root)];
  const records = known.flatMap((file) => /^docs\/decisions\/(\d{4})-/.exec(file)?.[1] ?? []);
  const exists = (name: string) => known.some((file) => file === name || file.endsWith(`/${name}`));

  function commentsOf(file: string): string[] {
    const form = file.endsWith(".sql") ? /--.*$/gm : file.endsWith(".conf") ? /#.*$/gm : /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;
    return [...read(file).matchAll(form)].map(([comment]) => comment);
  }

  function missingIn(comment: string): string[] {
    const named = [...comment.matchAll(/(?<![\w/.*-])((?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|sql|md|conf|css|json|js))(?![\w-])/g)];
    const files = named.map(([, name = ""]) => name).filter((name) => !madeLater.test(name) && !exists(name));
    const numbers = [...comment.matchAll(/\b(?:[Dd]ecisions?|[Rr]ecords?) (\d+)(?:(?:,| and) (\d+))?|docs\/decisions\/(\d{4})/g)]
      .flatMap(([, first, second, third]) => [first, second, third])
      .filter((number) => number !== undefined);
    return [...files, ...numbers.filter((number) => !records.includes(number.padStart(4, "0"))).map((number) => `decision ${number}`)];
  }

  it("name only files and decisions that exist", () => {
    const sources = known.filter((file) => /\.(tsx?|js|sql|css|conf)$/.test(file) && !file.startsWith("tests/server/recordings/"));
    const faults = sources.flatMap((file) =>
      commentsOf(file)
        .flatMap(missingIn)
        .map((name) => `${file}: ${name}`),
    );
    expect(faults).toEqual([]);
    expect(missingIn("As nowhere.ts says (decisions 21 and 9999; docs/decisions/9998).")).toEqual([
      "nowhere.ts",
      "decision 9999",
      "decision 9998",
    ]);
  });
});
