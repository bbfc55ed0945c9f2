import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, describe, expect, it } from "vitest";
import { coloured } from "#client/features/chat/code-colours.ts";
import { drawFormula } from "#client/features/chat/formula-drawing.ts";
import type { TextEnd } from "#client/features/chat/markdown-blocks.ts";
import { decodeEntities, lexGrowing, nothingLexed, safeHref } from "#client/features/chat/markdown-blocks.ts";
import { Markdown } from "#client/features/chat/markdown-view.tsx";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", ns: ["chat"], resources: { en: { chat: {} } } });
});

function html(text: string, end: TextEnd = "whole"): string {
  return renderToStaticMarkup(<Markdown text={text} end={end} />);
}

const hostile = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "java\tscript:alert(1)",
  "\u0001javascript:alert(1)",
  "javascript&colon;alert(1)",
  "javascript://example.com/%0aalert(1)",
  "vbscript:msgbox(1)",
  "data:text/html,<script>alert(1)</script>",
  "blob:https://example.com/1",
  "file:///etc/passwd",
  "filesystem:https://example.com/x",
  "intent://scan/#Intent;end",
  "view-source:https://example.com",
  "tel:+1",
  "//example.com/x",
  "/admin",
  "\\\\example.com\\x",
  "#top",
  "",
];

describe("links in answers", () => {
  it("lead to absolute http, https and mailto addresses only", () => {
    expect(hostile.filter((href) => safeHref(href) !== undefined)).toEqual([]);
    expect(["https://example.com/a?b#c", "http://example.com/", "mailto:a@b.co"].map(safeHref)).toEqual([
      "https://example.com/a?b#c",
      "http://example.com/",
      "mailto:a@b.co",
    ]);
  });

  it("bring no hostile address into the page, however Markdown spells it", () => {
    for (const href of hostile) {
      for (const text of [
        `[x](${href})`,
        `[x](<${href}>)`,
        `<${href}>`,
        `![x](${href})`,
        `[x][r]\n\n[r]: ${href}`,
        `[x](${href.replace(/:/, "&#58;")})`,
      ]) {
        const hrefs = [...html(text).matchAll(/href="([^"]*)"/g)].map((match) => match[1] ?? "");
        for (const found of hrefs) expect(found, text).toMatch(/^(https?:|mailto:)/);
      }
    }
  });

  it("open in a new tab without opener and referrer", () => {
    expect(html("[a](https://example.com)")).toContain(
      '<a href="https://example.com/" target="_blank" rel="noopener noreferrer nofollow">a</a>',
    );
  });
});

describe("HTML in answers", () => {
  const corpus = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><use href='data:image/svg+xml,x'/></svg>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "text <b onclick=alert(1)>bold</b> <style>*{}</style>",
    "<math><mtext></table><mglyph><style><img src onerror=alert(1)>",
    "![pixel](https://tracker.example/p.png)",
    "| <img src=x> |\n| - |\n| <script>1</script> |",
    "```html\n<script>alert(1)</script>\n```",
    "`<img src=x onerror=1>`",
    "<!-- --><a href='javascript:alert(1)'>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
  ];

  it("is shown as text: it creates no elements and loads nothing", () => {
    for (const text of corpus) {
      const tags = html(text).match(/<[a-z][^>]*>/g) ?? [];
      expect(
        tags.filter((tag) => /^<(script|img|iframe|style|math|use|object|embed|form|b)\b/.test(tag)),
        text,
      ).toEqual([]);
      expect(
        tags.filter((tag) => /\s(src|srcset|style|on\w+)=/.test(tag)),
        text,
      ).toEqual([]);
    }
  });

  it("shows an image as a link", () => {
    expect(html("![pixel](https://tracker.example/p.png)")).toContain('href="https://tracker.example/p.png"');
  });
});

describe("Markdown", () => {
  it("renders every element that answers use", () => {
    const text =
      "# T\n\nA **b** *c* ~~d~~ `e`\n\n- x\n  1. y\n\n> q\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n```ts\nlet a = 1 < 2;\n```\n\n---\n";
    const drawn = html(text);
    for (const piece of ["<h3>T</h3>", "<strong>b</strong>", "<em>c</em>", "<del>d</del>", "<code>e</code>", "<blockquote>", "<hr/>"])
      expect(drawn).toContain(piece);
    expect(drawn).toMatch(/<ul><li>x<ol start="1"><li>y<\/li><\/ol><\/li><\/ul>/);
    expect(drawn).toContain('<th data-align="center">a</th><th data-align="right">b</th>');
    expect(drawn).toContain("let a = 1 &lt; 2;");
  });

  it("decodes character references in text, and leaves unknown ones as they are", () => {
    expect(decodeEntities("&amp; &lt;b&gt; &#65;&#x1F600; &bogus; &#0; &#xD800;")).toBe("& <b> A😀 &bogus; \ufffd \ufffd");
  });

  it("gives the same result whether it arrives at once or letter by letter", () => {
    const text =
      "Intro\n\n- a\n\n- b\n\n  more\n\n1. one\n2. two\n\n```js\na\n\nb\n```\n\n| h |\n| - |\n| c |\n\nEnd [r]\n\n[r]: https://example.com\n\nLast\r\nline";
    let lexed = nothingLexed;
    for (let length = 1; length <= text.length; length += 1) lexed = lexGrowing(text.slice(0, length), lexed, "growing");
    const growing = lexed.blocks.filter((block) => block.type !== "def").map((block) => block.raw.trim());
    const whole = lexGrowing(text, nothingLexed, "whole")
      .blocks.filter((block) => block.type !== "def")
      .map((block) => block.raw.trim());
    expect(growing).toEqual(whole);
  });

  it("hides unfinished markup while an answer grows or if it was cut off; a whole answer is shown as it is", () => {
    for (const end of ["growing", "cut"] as const) {
      expect(html("Some **bo", end)).toContain("Some <strong>bo</strong>");
      expect(html("see [the guide](https://exa", end)).toContain("<p>see the guide</p>");
      expect(html("*", end)).not.toContain("*");
    }
    expect(html("2 ** 3 and **", "whole")).toContain("2 ** 3 and **");
  });

  it.each([
    "***a** b* end",
    "***a* b** end",
    "*a **b** c* d",
    "**a *b* c** d",
    "**a *b*** d",
    "*a **b*** d",
    "***ab*** d",
    "~~a **b** c~~ d",
  ])("never shows a sign of %s while it grows", (text) => {
    for (let length = 1; length <= text.length; length += 1)
      expect(html(text.slice(0, length), "growing"), text.slice(0, length)).not.toMatch(/[*~]/);
  });
});

/** The source of each formula in a text, in order; formulas are shown as source until their renderer is loaded. */
function formulasIn(text: string, end: TextEnd = "whole"): string[] {
  return [...html(text, end).matchAll(/<code class="[^"]*source[^"]*">([^<]*)<\/code>/g)].map((match) => decodeEntities(match[1] ?? ""));
}

describe("formulas in answers", () => {
  it.each([
    ["$x^2$ and $y_1$, \\(a+b\\)", ["$x^2$", "$y_1$", "\\(a+b\\)"]],
    ["so $2x + 1 = 5$ and $n$th, ($k$), $5$", ["$2x + 1 = 5$", "$n$", "$k$", "$5$"]],
    ["$v = 10\\,\\text{km per h}$", ["$v = 10\\,\\text{km per h}$"]],
    ["*a $b*c$ d*, $\\{a_{i}\\}_{i=1}$ and $b_*$", ["$b*c$", "$\\{a_{i}\\}_{i=1}$", "$b_*$"]],
    ["Then\n\\[\na\n- b\n= c\n\\]\nafter", ["\\[\na\n- b\n= c\n\\]"]],
    ["$$\nE = mc^2\n$$\n\ntext", ["$$\nE = mc^2\n$$"]],
    ["- x:\n  \\[ y \\]\n\n| a |\n| - |\n| $z^2$ |", ["\\[ y \\]", "$z^2$"]],
    ["设$x$为 $$a$$ 在", ["$x$", "$$a$$"]],
  ])("are found: %j", (text, formulas) => {
    expect(formulasIn(text)).toEqual(formulas);
  });

  it.each([
    "It costs $5 and $10.",
    "$5, $10 or $20 a month",
    "from $100k–$200k, $5-$10, $5/$10",
    "US$5 and CA$10, R$ 5 e R$ 10, A$AP and A$AP",
    "between $5 and 10$",
    "$5/month or 60$ a year",
    "**$5** to **$10**, *$3*",
    "$1,000 per person ($)",
    "5$ here and 10$ there",
    "\\$5 and \\$10",
    "$HOME and $PATH, $HOME/$USER",
    "I paid $$ and more $$$",
    "`$a$` and ``\\(b\\)``",
    "```sh\necho $a$ $$b$$ \\[c\\]\n```",
    "\\\\(a\\\\) and \\(",
    "$$a\n\nb$$",
    "prices in $ are lower than those in $",
  ])("are not found in prices, variables or code: %j", (text) => {
    expect(formulasIn(text)).toEqual([]);
    expect(formulasIn(text, "growing")).toEqual([]);
  });

  it("are hidden until they are complete, and hide no other text", () => {
    for (const end of ["growing", "cut"] as const) {
      expect(html("Then **so \\(x_1 + ", end)).toContain("<p>Then <strong>so</strong></p>");
      expect(html("Then\n\\[\na\n- b", end)).toContain("<p>Then</p></div></div>");
      expect(html("$$\n\\frac{1", end)).not.toContain("frac");
      expect(formulasIn("$\\{a_{i}\\}_{i=1}$ mo", end)).toEqual(["$\\{a_{i}\\}_{i=1}$"]);
    }
    expect(html("\\[\na\n\nlater text", "growing")).toContain("later text");
  });

  it("become MathML of known elements and attributes, with their source as an annotation", () => {
    const drawn = renderToStaticMarkup(
      drawFormula("\\begin{aligned} x &= \\frac{-b \\pm \\sqrt{b^2-4ac}}{2a} \\\\ &= \\sum_{i=1}^n i \\end{aligned}", true),
    );
    for (const piece of ["<math", "<mfrac>", "<msqrt>", "<munderover>", 'data-align="end"', '<annotation encoding="application/x-tex">'])
      expect(drawn).toContain(piece);
    expect(drawn).not.toMatch(/ (style|class|href|id|on\w+)=/);
  });

  it.each([
    "\\href{javascript:alert(1)}{x}",
    "\\url{https://example.com}",
    "\\includegraphics{https://example.com/x.png}",
    "\\class{button}{x}",
    "\\id{root}{x}",
    "\\style{color:red}{x}",
    "\\data{x=1}{x}",
    "\\text{<img src=x onerror=alert(1)>}",
    "<script>alert(1)</script>",
    "\\color{red;background:url(//example.com)} x",
    "\\color{#ff0000} x",
    "\\rule{9999em}{9999em} x",
    "\\hspace{99999em} x",
    "\\cancel{x} \\boxed{y} \\ref{z} \\tag{1}",
    "\\unicode{60}script",
  ])("contain no element, address or style that TeX could inject: %s", (tex) => {
    const drawn = renderToStaticMarkup(drawFormula(tex, true)).replace(/<annotation[^>]*>[^<]*<\/annotation>/, "");
    expect(drawn).not.toMatch(/<(?!\/?(?:m[a-z]+|semantics)\b)/);
    expect(
      drawn.match(/<[^>]*>/g)?.filter((tag) => /\s(style|class|href|src|id|on\w+|mathcolor|mathbackground)=|\d{3,}(em|pt|px)/.test(tag)) ??
        [],
    ).toEqual([]);
  });

  it.each([
    "\\frac{1",
    "\\begin{matrix} a",
    "\\nonsense{x}",
    "}",
    "\\sqrt{".repeat(70) + "}".repeat(70),
    "\\def\\a{\\a\\a}\\a",
    "\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a\\a\\a}\\def\\c{\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b}\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d",
    "x".repeat(3_000),
  ])("are shown as source if they are malformed or too complex: %#", (tex) => {
    expect(drawFormula(tex, false)).toBeUndefined();
  });

  it("don't share definitions", () => {
    expect(drawFormula("\\gdef\\mine{x}\\mine", false)).toBeDefined();
    expect(drawFormula("\\mine", false)).toBeUndefined();
  });
});

/**
 * How many times as long `draw` takes for the long text as for the short one, in this thread's time on a processor: the long one
 * takes longer than other processes let it run at a stretch, the short one does not. Compares the shortest times, because other load
 * only adds time; repeats until the ratio looks linear, as a quadratic one never does.
 */
function leastRatio(draw: (text: string) => unknown, short: string, long: string): number {
  const drawMs = (text: string) => {
    const before = process.threadCpuUsage();
    draw(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  const least = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  const ratio = () => least.long / Math.max(least.short, 2);
  for (let round = 0; round < 12 && !(ratio() < 20); round += 1) {
    least.short = Math.min(least.short, drawMs(short));
    least.long = Math.min(least.long, drawMs(long));
  }
  return ratio();
}

describe("code in answers", () => {
  function plain(code: string, language: string): { marks: number; text: string; tags: string[] } {
    const drawn = renderToStaticMarkup(coloured(code, language));
    const tags = drawn.match(/<[^>]*>/g) ?? [];
    return { marks: tags.length, text: decodeEntities(drawn.replace(/<[^>]*>/g, "").replaceAll("&#x27;", "'")), tags };
  }

  it.each([
    ["ts", "const a: number = 1; // <b>\ntype T = Array<string>;"],
    ["python", "def f(x):\n    return f'{x}' # <script>alert(1)</script>"],
    ["html", "<img src=x onerror=alert(1)><script>alert('&lt;')</script><style>*{}</style>"],
    ["sql", "SELECT * FROM a WHERE b = 'c' AND d < 1;"],
    ["JSON", '{"a": [1, true, null, "<b>"]}'],
    ["sh", "echo \"$HOME\" | grep -v 'x'"],
  ])("is highlighted with spans that contain only its text: %s", (language, code) => {
    const { marks, text, tags } = plain(code, language);
    expect(marks).toBeGreaterThan(2);
    expect(text).toBe(code);
    expect(tags.filter((tag) => !/^<(\/span|span( data-kind="[a-z]+")?)>$/.test(tag))).toEqual([]);
  });

  it("stays plain in an unknown language, whatever its name", () => {
    for (const language of ["brainfuck", "constructor", "__proto__", "", "<b>"]) expect(coloured("a", language)).toBeUndefined();
  });

  it.each(["javascript", "cpp", "bash"])("takes time proportional to its length: %s", (language) => {
    const draw = (code: string) => renderToStaticMarkup(coloured(code, language));
    for (const piece of ["a", "a.", "(", "<a ", "{{", '"', "/*", "$(", "`${"]) {
      const lines = `${`${piece.repeat(79 / piece.length)}\n`.repeat(9)};\n`;
      expect(leastRatio(draw, lines.repeat(2), lines.repeat(16)), piece).toBeLessThan(20);
    }
    for (const endless of ["a".repeat(80), "a b\n".repeat(200), "(".repeat(1_000)]) expect(coloured(endless, language)).toBeUndefined();
  });

  it("names its language for screen readers", () => {
    expect(html("```ts\nlet a;\n```")).toMatch(/<figure [^>]*aria-label="ts"/);
  });
});

/** Texts of `length` characters that are hard to parse. */
const pathological: Readonly<Record<string, (length: number) => string>> = {
  asterisks: (length) => "*".repeat(length),
  "asterisks between words": (length) => "*a ".repeat(length / 3),
  "asterisks in pairs": (length) => "**a*".repeat(length / 4),
  underscores: (length) => "_a".repeat(length / 2),
  brackets: (length) => "[".repeat(length),
  "half links": (length) => "[a](".repeat(length / 4),
  "half pictures": (length) => "![".repeat(length / 2),
  "nested brackets": (length) => `${"[".repeat(length / 2)}${"](a)".repeat(length / 8)}`,
  parentheses: (length) => `[a](${"(".repeat(length)}`,
  backticks: (length) => "`a``".repeat(length / 4),
  tildes: (length) => "~~a ".repeat(length / 4),
  quotes: (length) => ">".repeat(length),
  "nested lists": (length) => "- ".repeat(length / 2),
  "long lists": (length) => "1. a\n\n".repeat(length / 6),
  tables: (length) => `|a|b|\n|-|-|\n${"|x|y|\n".repeat(length / 6)}`,
  "wide tables": (length) => `${"|a".repeat(length / 4)}|\n${"|-".repeat(length / 4)}|\n`,
  tags: (length) => "<a ".repeat(length / 3),
  comments: (length) => "<!--".repeat(length / 4),
  addresses: (length) => "http://a".repeat(length / 8),
  "half addresses": (length) => `${"a.".repeat(length / 2)}@b`,
  backslashes: (length) => "\\".repeat(length),
  "signs in turn": (length) => "*_[`~".repeat(length / 5),
  dollars: (length) => "$".repeat(length),
  "dollars between words": (length) => "$a ".repeat(length / 3),
  formulas: (length) => "$a$ ".repeat(length / 4),
  "half formulas": (length) => "\\(a ".repeat(length / 4),
  "half formulas on lines": (length) => "\\[\n".repeat(length / 3),
  "formulas on lines": (length) => "$$\na\n$$\n\n".repeat(length / 9),
  paragraphs: (length) => "a\n\n".repeat(length / 3),
};

describe("text that is hard to parse", () => {
  it.each(Object.entries(pathological))("takes time proportional to its length, growing or whole: %s", (_, build) => {
    for (const end of ["growing", "whole"] as const) {
      // Eight times the length may take eight times as long. A quadratic one would take 64 times as long.
      expect(leastRatio((text) => html(text, end), build(3_000), build(24_000))).toBeLessThan(20);
    }
  });
});
