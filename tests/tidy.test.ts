/** The project's rules that a test can check; CONTRIBUTING.md gives the reasons. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesOf, importsOf } from "#tests/support/imports.ts";
import { differences, spoken, unusedKeys, withoutSlots, wrongWords } from "#tests/support/locales.ts";
import { parsedKeysInFunction, parsedKeysInSource } from "#tests/support/parsed-keys.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import type { SyntaxNode } from "#tests/support/sources.ts";
import { lineOf, listFiles, nodesOf, read, root } from "#tests/support/sources.ts";
import { testCalls } from "#tests/support/test-calls.ts";
import { ringsOf, zoneFault } from "#tests/support/zones.ts";

const fileLinesMaximum = 300;
const functionLinesMaximum = 70;
const product = ["server", "sandbox", "worker", "client", "scripts"].flatMap((folder) => listFiles(folder, /\.tsx?$/));
const everything = [...product, ...listFiles("tests", /\.tsx?$/)];

/** Folders that may use wall time: for tokens, sessions, attempts, Stripe's signatures and inbox age, leases, and the clock itself. */
const wallTimeAllowed = [
  "server/features/attempts/",
  "server/features/auth/",
  "server/features/clock/",
  "server/features/billing/webhook.ts",
  "server/features/billing/event-checks.ts",
  "server/features/contact/limits.ts",
  "server/features/files/signed-addresses.ts",
  "server/features/generations/",
  "server/features/team/limits.ts",
];
/** Files that may read process.env: entry points, which pass it on to the code that parses it. */
const environmentAllowed = [
  "server/commands/",
  "server/embedded/",
  "server/process.ts",
  "scripts/",
  "server/main.ts",
  "worker/main.ts",
  "sandbox/main.ts",
  "server/db/migrate.ts",
  "client/vite.config.ts",
];

/** Files that only `npm run test:full` runs, and what `npm test` runs instead. */
const onlyInFull = {
  "tests/e2e/admin-walks.test.ts": "each of its pages and acts, in admin.test.ts and admin-needs.test.ts",
  "tests/e2e/billing-walk.test.ts": "each of its steps, in first-day.test.ts, trial.test.ts, packs.test.ts and the states of the client",
  "tests/faults/embedded-postgres.test.ts": "the same fault with a PostgreSQL of ours, in postgres.test.ts",
  "tests/faults/postgres-main-job.test.ts": "one kill at a chosen moment, in postgres.test.ts",
  "tests/server/migrations-billing-accounts.test.ts": "its schema, up and down, in migrations.test.ts; it was released long ago",
  "tests/server/migrations-identities.test.ts": "its schema, up and down, in migrations.test.ts; it was released long ago",
};

function isFunction(node: SyntaxNode): boolean {
  return ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"].includes(node.type);
}

/** `object.property` with plain names. */
function isMember(node: SyntaxNode, object: string, property: string): boolean {
  const { object: left, property: right } = node as { object?: { name?: string }; property?: { name?: string; value?: string } };
  return node.type === "MemberExpression" && left?.name === object && (right?.name ?? right?.value) === property;
}

function isNowDate(node: SyntaxNode): boolean {
  const { callee } = node as { callee?: { name?: string } };
  return node.type === "NewExpression" && callee?.name === "Date" && (node.arguments as unknown[]).length === 0;
}

/** "file:line" of each node that matches. */
function find(files: readonly string[], matches: (node: SyntaxNode, text: string) => boolean): string[] {
  return files.flatMap((file) => {
    const text = read(file);
    return [...nodesOf(file)].filter((node) => matches(node, text)).map((node) => `${file}:${lineOf(text, node.start)}`);
  });
}

const outside = (allowed: readonly string[]) => (file: string) => !allowed.some((prefix) => file.startsWith(prefix));

describe("sources", () => {
  it(`have files of at most ${fileLinesMaximum} lines`, () => {
    const long = product
      .map((file) => ({ file, lines: read(file).trimEnd().split("\n").length }))
      .filter(({ lines }) => lines > fileLinesMaximum);
    expect(long).toEqual([]);
  });

  it(`have functions of at most ${functionLinesMaximum} lines`, () => {
    const isLong = (node: SyntaxNode, text: string) =>
      isFunction(node) && lineOf(text, node.end) - lineOf(text, node.start) >= functionLinesMaximum;
    expect(find(product, isLong)).toEqual([]);
  });

  it("have no barrels", () => {
    const isReExport = (node: SyntaxNode) =>
      node.type === "ExportAllDeclaration" || (node.type === "ExportNamedDeclaration" && node.source !== null);
    expect(find(everything, isReExport)).toEqual([]);
  });

  it("read the environment in one place", () => {
    expect(find(product.filter(outside(environmentAllowed)), (node) => isMember(node, "process", "env"))).toEqual([]);
  });

  it("take business time from the clock they are given", () => {
    const features = [...listFiles("server/features", /\.ts$/), ...listFiles("server/db", /\.ts$/)];
    const files = features.filter(outside([...wallTimeAllowed, "server/db/business-clock.ts"]));
    expect(find(files, (node) => isNowDate(node) || isMember(node, "Date", "now"))).toEqual([]);
  });

  it("open transactions with `inTransaction`, within which Stripe can't be called", () => {
    // A conversation is read in one snapshot.
    const files = product.filter(outside(["sandbox/", "server/db/", "server/features/conversations/service.ts"]));
    const opens = (node: SyntaxNode) => {
      const { callee } = node as { callee?: { property?: { name?: string } } };
      return node.type === "CallExpression" && callee?.property?.name === "transaction";
    };
    expect(find(files, opens)).toEqual([]);
  });

  it("don't silence a checker", () => {
    const markers = [
      "@ts-" + "ignore",
      "@ts-" + "nocheck",
      "@ts-" + "expect-error",
      "biome-" + "ignore",
      "eslint-" + "disable",
      "TO" + "DO",
      "FIX" + "ME",
    ];
    const found = everything.flatMap((file) =>
      markers.filter((marker) => read(file).includes(marker)).map((marker) => `${file}: ${marker}`),
    );
    expect(found).toEqual([]);
  });

  it("run every test: no skip, only or todo", () => {
    const tests = listFiles("tests", /\.test\.tsx?$/);
    const isChosen = (node: SyntaxNode) =>
      ["it", "test", "describe"].some(
        (name) => isMember(node, name, "only") || isMember(node, name, "skip") || isMember(node, name, "todo"),
      );
    expect(find(tests, isChosen)).toEqual([]);
  });

  it("have a test in every file that `npm test` runs, but for those named here", () => {
    const tests = listFiles("tests", /\.test\.tsx?$/);
    const never = tests.filter((file) => !testCalls(file).some(({ kind, onlyInFull }) => kind === "it" && !onlyInFull));
    expect(never).toEqual(Object.keys(onlyInFull));
  });
});

describe("imports", () => {
  const imports = importsOf(product);

  it("stay within the map of zones", () => {
    const faults = imports.flatMap((one) => {
      const fault = zoneFault(one);
      return fault === undefined ? [] : [`${one.from} → ${one.to}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it("have no cycles", () => {
    expect(cyclesOf(imports)).toEqual([]);
  });

  it("lead from no feature of the server back to it", () => {
    expect(ringsOf(imports)).toEqual([]);
    const planted = [...imports, { from: "server/features/figures/routes.ts", to: "server/features/admin/tables.ts", typeOnly: false }];
    expect(ringsOf(planted)).toContain("admin figures");
  });

  it("lead to contracts that are named as their features are", () => {
    const shared = ["api", "common", "outcome", "realtime", "route", "tables"];
    const features = readdirSync(path.join(root, "server/features"));
    const named = readdirSync(path.join(root, "server/contract")).map((name) => name.replace(/\.ts$/, ""));
    expect(named.filter((name) => !shared.includes(name) && !features.includes(name))).toEqual([]);
    // Each call is handled by the feature it is named after. What a person or the team reads of another feature is the exception, by name.
    const handled = imports.flatMap(({ from, to }) => {
      const feature = /^server\/features\/([^/]+)\/.*routes\.ts$/.exec(from)?.[1];
      const contract = /^server\/contract\/([^/]+?)(?:\.ts|\/.*)$/.exec(to)?.[1];
      return feature && contract && !shared.includes(contract) && feature !== contract ? [`${feature} → ${contract}`] : [];
    });
    expect([...new Set(handled)].sort()).toEqual([]);
  });

  it("against the map are found, and so is a cycle", () => {
    const refused: [string, string, boolean][] = [
      ["server/domain/plans.ts", "server/db/database.ts", true],
      ["server/http/problem.ts", "server/features/auth/sign-up.ts", false],
      ["server/http/health.ts", "server/deps.ts", true],
      ["server/db/grants.ts", "server/queue/jobs.ts", false],
      ["server/db/transaction.ts", "server/http/problem.ts", true],
      ["server/providers/mail.ts", "server/queue/outbox.ts", false],
      ["server/features/auth/sign-up.ts", "server/features/credits/queries.ts", false],
      ["sandbox/app.ts", "server/db/database.ts", false],
      ["server/app.ts", "worker/relay.ts", false],
      ["client/features/chat/thread.ts", "client/features/auth/session.ts", true],
      ["client/lib/format.ts", "server/contract/api.ts", false],
      ["client/components/button.tsx", "client/features/chat/thread.ts", false],
    ];
    for (const [from, to, typeOnly] of refused) expect(zoneFault({ from, to, typeOnly }), `${from} → ${to}`).toBeDefined();
    const circle = ["a", "b", "c"].map((from, index) => ({ from, to: ["b", "c", "a"][index] ?? "", typeOnly: false }));
    expect(cyclesOf(circle)).toEqual(["a → b → c → a"]);
  });
});

describe("SQL", () => {
  const planted = [
    "where id::text = $1",
    "where split_part(key, ':', 2) = any ($1)",
    "and u.id::text <> all (array(select subject from sweep_failures))",
    "delete from sweep_failures where subject = candidate.id::text;",
    "where contract_id is null and stripe_session_id like 'sub\\_%'",
    "and not starts_with(type, 'refund.')",
    "where not exists (select from ledger_keys k where k.key = 'clawback:doubled:' || g.id)",
    "join ledger_keys k on (k.key = concat('clawback:asked:', g.id))",
    "delete from mails where key in (select 'contact-message:' || id from gone)",
    "where options->'speech' ? 'reads' and (options->'speech'->>'reads')::uuid = p_read",
    "join generation_parts p on f.id = (p.detail->>'fileId')::uuid",
    "where f.kind = 'stale_hold' and f.subject::uuid = h.id",
  ];
  const plantedInSource = [
    `and not exists (select from ledger_keys k where k.key = \${doubledKey} || grants.id)`,
    '.where("type", "like", "refund.%")',
  ];
  const sound = [
    "case when f.content_type like 'audio/%' then 'recording' else 'attachment' end",
    "where key = 'capture:' || p_id",
    "'repay:' || transaction_id, 'repay', p_wallet,",
    "where id = any ($1::uuid[]) and user_id = $2::uuid and place > v_place::integer",
    "new.reads_id := (new.options->'speech'->>'reads')::uuid;",
  ];
  /** Functions that may do so, and why. */
  const allowed = {
    orders_copy_subscription:
      "the release before tells subscriptions from sessions by their first letters alone; it goes when that release is gone",
    account_erase: "only the key of the team's mail names the message; account-deletion.test.ts finds a mail that stays",
    answer_end: "compares ids of its parameter's parts, and no column of a table",
    attachments_are_there: "compares ids of its parameter's files, and no column of a table",
  };

  it("of the sources takes no key to pieces in a condition and compares no id as text", () => {
    const files = product.filter((file) => /^(server|worker)\//.test(file));
    expect(files.flatMap((file) => parsedKeysInSource(read(file)).map((line) => `${file}: ${line.trim()}`))).toEqual([]);
    for (const line of [...planted, ...plantedInSource]) expect(parsedKeysInSource(line), line).toEqual([line]);
    for (const line of sound) expect(parsedKeysInSource(line), line).toEqual([]);
  });

  it("of the functions and triggers in the database does neither", async () => {
    const database = await createTestDatabase();
    const { rows } = await database.pool.query<{ name: string; body: string }>(
      "select proname as name, coalesce(pg_get_function_sqlbody(oid), prosrc) as body from pg_proc where pronamespace = 'public'::regnamespace",
    );
    await database.drop();
    expect(rows.length).toBeGreaterThan(20);
    const found = rows.flatMap(({ name, body }) => parsedKeysInFunction(body).map((line) => ({ name, line: line.trim() })));
    expect(found.filter(({ name }) => !(name in allowed))).toEqual([]);
    expect([...new Set(found.map(({ name }) => name))].sort()).toEqual(Object.keys(allowed).sort());
    for (const line of planted) expect(parsedKeysInFunction(line), line).toEqual([line]);
    for (const line of sound) expect(parsedKeysInFunction(line), line).toEqual([]);
  });
});

describe("the manifest", () => {
  it("pins every version exactly", () => {
    const manifest = JSON.parse(read("package.json")) as Record<"dependencies" | "devDependencies", Record<string, string>>;
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it("starts processes in place of npm's shell, which passes no signal on", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const starts = Object.entries(scripts).filter(([name]) => /^(start|dev\b)/.test(name));
    expect(starts.length).toBeGreaterThan(0);
    expect(starts.filter(([, command]) => !command.startsWith("exec "))).toEqual([]);
  });
});

describe("migrations", () => {
  it("come in ordered pairs, up and down", () => {
    const files = readdirSync(path.join(root, "migrations")).sort();
    const names = files.filter((file) => file.endsWith(".up.sql")).map((file) => file.slice(0, -".up.sql".length));
    expect(files).toEqual(names.flatMap((name) => [`${name}.down.sql`, `${name}.up.sql`]));
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
  });
});

describe("texts", () => {
  const folders = ["client/i18n/locales", "server/features/notifications/locales"].filter((folder) => existsSync(path.join(root, folder)));
  const parse = (file: string) => JSON.parse(read(file)) as Parameters<typeof differences>[1];

  it.each(folders)("of %s have the English keys, placeholders and each language's plurals", (folder) => {
    const files = listFiles(folder, /\.json$/).map((file) => file.slice(folder.length + 1));
    // A language is either a folder of namespaces or one file.
    const languages = [...new Set(files.map((file) => file.split(/[/.]/)[0] ?? ""))];
    const english = files.filter((file) => /^en[/.]/.test(file));
    const faults = languages.flatMap((language) => {
      const counterpart = (file: string) => file.replace(/^en/, language);
      const absent = english.filter((file) => !files.includes(counterpart(file))).map((file) => `lacks ${counterpart(file)}`);
      const extra = files
        .filter((file) => file.startsWith(`${language}/`) && !english.includes(file.replace(/^[^/]+/, "en")))
        .map((file) => `${file} is unknown`);
      const present = english.filter((file) => files.includes(counterpart(file)));
      const different = present.flatMap((file) =>
        differences(language, parse(`${folder}/${counterpart(file)}`), parse(`${folder}/${file}`)).map((line) => `${file}: ${line}`),
      );
      return [...absent, ...extra, ...different].map((line) => `${language}: ${line}`);
    });
    expect(faults).toEqual([]);
  });

  it("use no word that the glossary of their language forbids", () => {
    const glossaries = listFiles("docs/glossary", /^[a-z]{2}\.md$/);
    expect(glossaries).toHaveLength(readdirSync(path.join(root, "client/i18n/locales")).length);
    const faults = glossaries.flatMap((glossary) => {
      const language = path.basename(glossary, ".md");
      const wrong = wrongWords(language, read(glossary));
      const texts = folders.flatMap((folder) => listFiles(folder, /\.json$/).filter((file) => file.split(/[/.]/).includes(language)));
      const pages = listFiles("client/content", /\.md$/).filter((file) => file.includes(`/${language}/`));
      const said = [
        ...texts.flatMap((file) => spoken(parse(file)).map((text) => [file, text])),
        ...pages.map((file) => [file, withoutSlots(read(file)).replace(/\]\([^)]*\)/g, "]")]),
      ];
      return said.flatMap(([file, text = ""]) => [...text.matchAll(wrong)].map(([word]) => `${file}: ${word}`));
    });
    expect(faults).toEqual([]);
    const glossary = (row: string) => `| Term | | Not |\n|---|---|---|\n${row}`;
    const english = wrongWords("en", glossary("| email | | e-mail, mail, letter (on paper) |\n| prompt | | query |"));
    expect("Mails, an e-mail, mailed, a mailbox, an email, a letter, a query".match(english)).toEqual([
      "Mails",
      "e-mail",
      "mailed",
      "query",
    ]);
    expect("К промпту сам, самый".match(wrongWords("ru", glossary("| prompt | запрос | промпт, сам |")))).toEqual(["промпту", "сам"]);
    expect("Eメールの額度".match(wrongWords("ja", glossary("| email | メール | Eメール、額度（例外） |")))).toEqual(["Eメール"]);
  });

  it("are all used in the client's code", () => {
    const sources = listFiles("client", /\.tsx?$/).map(read);
    // Keys in these are error codes of the server, so the client's code does not contain them.
    const files = listFiles("client/i18n/locales/en", /\.json$/).filter((file) => !/(errors|refusals|uploads)\.json$/.test(file));
    expect(files.flatMap((file) => unusedKeys(parse(file), sources).map((key) => `${path.basename(file, ".json")}: ${key}`))).toEqual([]);
    expect(unusedKeys({ a: { b: "", c_one: "", c_other: "" }, d: { e: "" } }, ['t("a.c")', `t(\`x:d.\${y}\`)`])).toEqual(["a.b"]);
  });
});
