import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, describe, expect, it } from "vitest";
import { decodeEntities, lexGrowing, nothingLexed, safeHref } from "#client/features/chat/markdown-blocks.ts";
import { Markdown } from "#client/features/chat/markdown-view.tsx";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", ns: ["chat"], resources: { en: { chat: {} } } });
});

function html(text: string, finished = true): string {
  return renderToStaticMarkup(<Markdown text={text} finished={finished} />);
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

  it("carry no hostile address into the page, however Markdown spells it", () => {
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

  it("open apart from the page and say nothing of it", () => {
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

  it("is shown as text: no element of it exists, and nothing is fetched", () => {
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

  it("leaves a picture as a link", () => {
    expect(html("![pixel](https://tracker.example/p.png)")).toContain('href="https://tracker.example/p.png"');
  });
});

describe("Markdown", () => {
  it("draws what answers are made of", () => {
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

  it("comes out the same at the end whether it arrived whole or letter by letter", () => {
    const text =
      "Intro\n\n- a\n\n- b\n\n  more\n\n1. one\n2. two\n\n```js\na\n\nb\n```\n\n| h |\n| - |\n| c |\n\nEnd [r]\n\n[r]: https://example.com\n\nLast\r\nline";
    let lexed = nothingLexed;
    for (let length = 1; length <= text.length; length += 1) lexed = lexGrowing(text.slice(0, length), lexed, false);
    const growing = lexed.blocks.filter((block) => block.type !== "def").map((block) => block.raw.trim());
    const whole = lexGrowing(text, nothingLexed, true)
      .blocks.filter((block) => block.type !== "def")
      .map((block) => block.raw.trim());
    expect(growing).toEqual(whole);
  });

  it("stays within bounds for nesting and runs that no reader wrote", () => {
    const started = performance.now();
    for (const text of [
      ">".repeat(5_000),
      "[".repeat(20_000),
      "*".repeat(20_000),
      `${"- ".repeat(500)}x`,
      "a".repeat(200_000),
      "![".repeat(5_000),
      "<".repeat(20_000),
    ]) {
      expect(html(text).length).toBeGreaterThan(0);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
