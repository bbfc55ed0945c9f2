/** Every guide, article and legal page against the rules for texts, and the compiler with texts that break its rules. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { linksOf, readableText } from "#client/content/blocks.ts";
import { loadedPiece, loadPiece } from "#client/content/bodies.ts";
import { compilePiece } from "#client/content/compile.ts";
import { fillIn } from "#client/content/figure.ts";
import { allFigures, unknownFigures } from "#client/content/figures.ts";
import { fillWith } from "#client/content/fill-with.ts";
import { pieceOf, pieces, piecesOf } from "#client/content/library.ts";
import { articleNames, guideNames, linkablePaths, pieceNameAt, pieceNames, piecePath } from "#client/content/names.ts";
import type { Block, Piece } from "#client/content/piece.ts";
import { findModel } from "#domain/models.ts";
import { annualPriceCents, packs, planList } from "#domain/plans.ts";
import { checkPrompt } from "#domain/rules.ts";
import { listFiles, read } from "#tests/support/sources.ts";

const folder = path.resolve(import.meta.dirname, "../../client/content");
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(path.join(folder, name)).map((file) => path.join(folder, name, file)));
const compiled = files.map((file): [string, Piece, string] => {
  const source = readFileSync(file, "utf8");
  return [path.relative(folder, file), compilePiece(source, file), source];
});

function promptsOf(blocks: readonly Block[]): (Block & { type: "prompt" })[] {
  return blocks.flatMap((block) => {
    if (block.type === "prompt") return [block];
    if (block.type === "quote") return promptsOf(block.blocks);
    return block.type === "list" ? block.items.flatMap(promptsOf) : [];
  });
}

describe("the library", () => {
  it("has every piece of the specification in English", () => {
    expect(pieces.map(({ name }) => name).toSorted()).toEqual([...pieceNames].toSorted());
    for (const name of pieceNames) expect(pieceOf(name, "en")?.language, name).toBe("en");
  });

  it("finds a piece by its address, with or without a trailing slash, and no other", () => {
    for (const name of pieceNames) {
      expect(pieceNameAt(piecePath(name))).toBe(name);
      expect(pieceNameAt(`${piecePath(name)}/`)).toBe(name);
    }
    for (const address of ["/blog", "/blog/", "/blog/unknown", "/blog/marketing", "/toString", "/blog/__proto__", "/"]) {
      expect(pieceNameAt(address), address).toBeUndefined();
    }
  });

  it("returns the English text if there is none in the reader's language", async () => {
    const piece = await loadPiece("xx", "marketing");
    expect(piece.language).toBe("en");
    expect(loadedPiece("xx", "marketing")).toBe(piece);
    expect(pieceOf("marketing", "xx")?.title).toBe(piece.title);
    expect(pieceOf("marketing", "en")).not.toHaveProperty("blocks");
  });

  it("lists the newest article first", () => {
    const dates = piecesOf("article").map(({ published }) => published);
    expect(dates).toEqual(dates.toSorted().reverse());
    expect(dates).toHaveLength(articleNames.length);
    expect(piecesOf("guide")).toHaveLength(guideNames.length);
  });
});

/** Prices and credits that must be placeholders, not typed. */
const typedFigures = [
  ...[...planList.flatMap((plan) => [plan.monthlyPriceCents, annualPriceCents(plan)]), ...packs.map((pack) => pack.priceCents)].map(
    (cents) => (cents / 100).toFixed(2),
  ),
];
const banned =
  /\b(unlock|revolutioni[sz]e|game-changer|dive in|seamless(ly)?|elevate|supercharge)\b|today['’]s fast-paced|!(?=\s|$)|\p{Extended_Pictographic}/iu;

describe.each(compiled)("%s", (_file, piece, source) => {
  const fill = fillWith(allFigures, piece);

  it("has the right length", () => {
    if (piece.kind === "legal") expect(piece.words).toBeGreaterThan(300);
    else expect(piece.words).toBeGreaterThanOrEqual(700);
    if (piece.kind !== "legal") expect(piece.words).toBeLessThanOrEqual(1_500);
    expect(piece.readingMinutes).toBe(Math.max(1, Math.round(piece.words / 220)));
  });

  it("links only to addresses of the product and to its own sections", () => {
    for (const link of linksOf(piece.blocks)) {
      const [target = "", section] = link.split("#");
      if (target !== "") expect(linkablePaths).toContain(target);
      else expect(piece.headings.map(({ id }) => id)).toContain(section);
    }
    expect(new Set(piece.headings.map(({ id }) => id)).size).toBe(piece.headings.length);
    for (const name of piece.related) expect(pieceOf(name), name).toBeDefined();
  });

  it("has all placeholders filled in and no typed figures", () => {
    const text = readableText([{ type: "paragraph", content: piece.lead }, ...piece.blocks]);
    expect(fill(text)).not.toMatch(/\{\{|\}\}|undefined|NaN/);
    expect(`${piece.title} ${piece.description}`).not.toMatch(/\{\{|\}\}/);
    for (const figure of typedFigures) expect(source).not.toContain(figure);
    expect(source).not.toMatch(/\b[1-9][\d,]* credits?\b/);
  });

  it("has only prompts that can be sent to the model they name", () => {
    const prompts = promptsOf(piece.blocks);
    if (piece.kind !== "legal") expect(prompts.length).toBeGreaterThanOrEqual(3);
    for (const { model, text } of prompts) {
      expect(findModel(model.id), model.id).toBeDefined();
      expect(checkPrompt(fill(text))).toBeUndefined();
    }
  });

  it("follows the rules for tone", () => {
    const text = readableText([{ type: "paragraph", content: piece.lead }, ...piece.blocks.filter(({ type }) => type !== "prompt")]);
    expect(banned.exec(text)?.[0]).toBeUndefined();
  });
});

const head = (changes: Record<string, string> = {}) => {
  const fields = {
    title: "A title",
    description: `${"A description of the right length. ".repeat(3)}It ends with a full stop here.`,
    kind: "guide",
    published: "2026-09-14",
    updated: "2026-11-20",
    related: "[getting-started]",
    ...changes,
  };
  return `---\n${Object.entries(fields)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n")}\n---\n\n`;
};
const compile = (source: string, file = "content/en/marketing.md") => compilePiece(source, file);
const body = (markdown: string) => compile(`${head()}Lead.\n\n${markdown}\n`).blocks;

it("the privacy page names every cookie that the server sets", () => {
  const sources = listFiles("server", /\.ts$/).map(read);
  const cookies = sources.flatMap((source) => [...source.matchAll(/: CookieKind = \{ name: "([^"]+)"/g)].map(([, name]) => name));
  expect(cookies.length).toBeGreaterThan(3);
  const privacy = read("client/content/en/privacy.md");
  expect(cookies.filter((name) => !privacy.includes(`\`${name}\``))).toEqual([]);
});

it("the privacy page types no period: each comes from the code that keeps it", () => {
  const privacy = readFileSync(path.join(folder, "en/privacy.md"), "utf8");
  const period = /\b(an?|one|two|ten|\d+) (minute|hour|day|week|month|year)s?\b/i;
  expect(period.exec(privacy)?.[0]).toBeUndefined();
  expect(period.exec("for a day")?.[0]).toBe("a day");
});

describe("the compiler", () => {
  it.each([
    ["a title over 60 characters", head({ title: "x".repeat(61) }), 2, /61 characters/],
    ["a description too short", head({ description: "Short." }), 3, /6 characters/],
    ["a kind that is not the piece's", head({ kind: "article" }), 4, /guide/],
    ["a date that does not exist", head({ published: "2026-02-30" }), 5, /published/],
    ["an update before the publication", head({ updated: "2026-01-01" }), 6, /before/],
    ["a related piece that does not exist", head({ related: "[nowhere]" }), 7, /nowhere/],
    ["the piece as related to itself", head({ related: "[marketing]" }), 7, /itself/],
    ["an unknown field", head({ author: "Somebody" }), 8, /author/],
    ["a missing field", head({ updated: "" }), 1, /updated/],
    ["front matter that is no YAML", head({ related: "[a" }), 7, /./],
    ["an unknown placeholder in the title", head({ title: "{{price:gold}}" }), 2, /price:gold/],
  ])("refuses %s, with its line", (_case, source, line, message) => {
    expect(() => compile(`${source}Lead.\n`)).toThrow(message);
    expect(() => compile(`${source}Lead.\n`)).toThrow(new RegExp(`^content/en/marketing\\.md:${line}: `));
  });

  it.each([
    ["a tag", "Some <b>bold</b> text.", /HTML/],
    ["a block of HTML", "<div>\n</div>", /HTML/],
    ["a comment", "<!-- note -->", /HTML/],
    ["an entity", "Fish &amp; chips.", /entity/],
    ["an unknown placeholder", "It costs {{price:gold}}.", /price:gold/],
    ["a placeholder from an object's own past", "It costs {{constructor}}.", /constructor/],
    ["an open brace", "It costs {{price:starter.", /\{\{/],
    ["an unknown model", "```prompt model=gpt-9\nHello\n```", /gpt-9/],
    ["a block of code that is no prompt", "```js\nlet a\n```", /prompt/],
    ["an empty prompt", "```prompt model=gpt-5\n\n```", /empty/],
    ["a link out of the product", "[Site](https://example.com)", /unknown link/],
    ["a bare address", "See https://example.com for more.", /unknown link/],
    ["a link that runs", "[Site](javascript:alert%281%29)", /unknown link/],
    ["a link to the admin's page", "[Admin](/admin)", /unknown link/],
    ["a link to a section there is not", "[Up](#nowhere)", /#nowhere/],
    ["a picture", "![Alt](/x.png)", /image/],
    ["a first heading", "# Title", /h1/],
    ["a deep heading", "#### Deep", /h1/],
    ["a rule", "---\n\nText", /hr/],
    ["a box to tick", "- [ ] Do it", /tick/],
    ["an unknown widget", "::slot-machine", /slot-machine/],
  ])("refuses %s, with its line", (_case, markdown, message) => {
    expect(() => body(`Fine.\n\n${markdown}`)).toThrow(message);
    // Lines 1 to 13 are the front matter (8 lines), a blank line, the lead, a blank line, a valid paragraph and a blank line.
    expect(() => body(`Fine.\n\n${markdown}`)).toThrow(/^content\/en\/marketing\.md:14: /);
  });

  it("names the line within a long block", () => {
    expect(() => body("- one\n- two\n- {{no}}")).toThrow(/marketing\.md:14: /);
    expect(() => body("One line,\nanother,\nand {{no}}.")).toThrow(/marketing\.md:14: /);
  });

  it("refuses a file whose name or language is unknown", () => {
    expect(() => compile(head(), "content/en/unknown.md")).toThrow(/names\.ts/);
    expect(() => compile(head(), "content/xx/marketing.md")).toThrow(/language/);
    expect(() => compile("No front matter.")).toThrow(/:1: /);
    expect(() => compile(`${head()}## A heading first\n`)).toThrow(/paragraph/);
  });

  it("turns English straight quotes into curly ones, across markup, but not in prompts and other languages", () => {
    expect(body(`"Don't," said '*she*' ("**he**" too).`)).toEqual([
      {
        type: "paragraph",
        content: ["“Don’t,” said ‘", { type: "emphasis", content: ["she"] }, "’ (“", { type: "strong", content: ["he"] }, "” too)."],
      },
    ]);
    expect(body('```prompt model=gpt-5\nSay "hi"\n```')).toEqual([
      {
        type: "prompt",
        model: { id: "gpt-5", name: "GPT-5", category: "text", credits: 5, unit: "answer" },
        text: 'Say "hi"',
      },
    ]);
    const german = compile(`${head()}"So"\n`, "content/de/marketing.md");
    expect(german.lead).toEqual(['"So"']);
    expect(german.creditForms).toHaveProperty("other");
  });

  it("gives equal headings different ids", () => {
    const { headings } = compile(`${head()}Lead.\n\n## What it costs\n\n### What it costs\n\n## Größe & 値段\n`);
    expect(headings.map(({ id }) => id)).toEqual(["what-it-costs", "what-it-costs-2", "größe-値段"]);
  });
});

describe("figures", () => {
  const english = { language: "en", credits: (count: number) => `${count} credits` };

  it("come from the catalogues", () => {
    const text =
      "{{price:starter}} {{annual:basic}} {{credits:enterprise}} {{cost:gpt-5}} {{costOf:dall-e-3}} {{model:dall-e-3}} {{modelCount}}";
    expect(fillIn(allFigures, text, english)).toBe("$19.99 $383.90 1,250 5 credits 10 GPT Image 2.6 Flare 28");
    const more = "{{trialDays}} {{trialCredits}} {{refundDays}} {{annualSaving}} {{pack:250}} {{perMinute:starter}} {{atOnce:basic}}";
    expect(fillIn(allFigures, more, english)).toBe("7 50 14 20% $17.99 10 2");
    expect(fillIn(allFigures, "{{perMonth:starter:gpt-5}}", english)).toBe("60");
    const periods = "{{kept:accessToken}} {{kept:signUpCookie}} {{kept:deviceCookie}} {{kept:sessions}} {{kept:answerLogGone}}";
    expect(fillIn(allFigures, periods, english)).toBe("10 minutes 1 day 1 year 30 days 49 hours");
  });

  it("are refused if they are unknown", () => {
    for (const figure of ["{{pack:99}}", "{{trialDays:2}}", "{{price}}", "{{perMonth:starter}}", "{{perMonth:starter:gpt-5:2}}", "{{}}"]) {
      expect(unknownFigures(figure), figure).toEqual([figure]);
    }
  });

  it("use the plural forms of the text's language", () => {
    const polish = {
      one: "{{formatted}} kredyt",
      few: "{{formatted}} kredyty",
      many: "{{formatted}} kredytów",
      other: "{{formatted}} kredytu",
    };
    const fill = fillWith(allFigures, { language: "pl", creditForms: polish });
    expect(fill("{{cost:gpt-5-mini}}, {{cost:sonar}}, {{cost:gpt-5}}")).toBe("1 kredyt, 2 kredyty, 5 kredytów");
  });
});
