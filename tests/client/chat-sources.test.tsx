/** The cards below an answer that has its facts from the web. */
import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, describe, expect, it } from "vitest";
import { Markdown } from "#client/features/chat/markdown-view.tsx";
import { SourceCards } from "#client/features/chat/source-cards.tsx";
import { marker } from "#client/features/chat/source-marks.tsx";
import { TextMarks } from "#client/features/chat/text-marks.ts";
import { afterReceipt, emptyThread, sending } from "#client/features/chat/thread.ts";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import type { Receipt, Source } from "#contract/generations/generations.ts";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", ns: ["chat"], resources: { en: { chat } }, interpolation: { escapeValue: false } });
});

const otters: Source = { mark: 1, url: "https://www.news.example/otters?a=1&b=2", title: "Otters <return>", date: "2026-11-02" };
const river: Source = { mark: 2, url: "https://river.example/report", title: null, date: "last week" };

const draw = (sources: readonly Source[], text = "They are back.") =>
  renderToStaticMarkup(<SourceCards sources={sources} text={text} answer="a-" />);

describe("a source", () => {
  it("is a link with its number, title, site and day, where they are known", () => {
    const html = draw([otters, river]);
    expect(html).toContain('href="https://www.news.example/otters?a=1&amp;b=2"');
    expect(html).toContain("Otters &lt;return&gt;");
    expect(html).toContain("news.example · November 2, 2026");
    // It has no title, and its date is no day.
    expect(html).toMatch(/river\.example<\/span><span[^>]*>river\.example<\/span>/);
    expect(html).not.toContain("last week");
  });

  it("is left out if the text refers to others only, or a browser must not open it", () => {
    expect(draw([otters, river], "They are back [2].")).not.toContain("news.example");
    expect(draw([otters, river], "They are back [3].")).toContain("news.example");
    expect(draw([{ ...otters, url: "javascript:alert(1)" }])).not.toContain("<a");
  });
});

describe("a number in the text", () => {
  const written = (text: string, sources: readonly Source[] = [otters, river]) =>
    renderToStaticMarkup(
      <TextMarks value={sources.length > 0 ? marker(sources, "a-") : null}>
        <Markdown text={text} end="whole" />
      </TextMarks>,
    );
  const linksIn = (html: string) => [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href);

  it("leads to the card of its source, and says to what it leads", () => {
    const html = written("Otters are **back[1]**, and the river [2][1].\n\n- So it is [2]\n\n| a |\n|---|\n| b[1] |");
    expect(linksIn(html)).toEqual(["#a-source-1", "#a-source-2", "#a-source-1", "#a-source-2", "#a-source-1"]);
    expect(html).toContain('aria-label="Source 1: Otters &lt;return&gt;"');
    expect(html).toContain('aria-label="Source 2: river.example"');
    expect(draw([otters, river])).toContain('id="a-source-1"');
  });

  it("stays as it is in code, in links, and where it is no source's", () => {
    expect(linksIn(written("`a[1]` and a[3], [], [-1], [1.5], [01x]\n\n```js\nconst a = b[1];\n```\n\n    a[1]"))).toEqual([]);
    expect(linksIn(written("[see [1]](https://river.example/)"))).toEqual(["https://river.example/"]);
    expect(linksIn(written("[1]", []))).toEqual([]);
    expect(written('<img src=x onerror="alert(1)">[1]')).not.toContain("<img");
  });

  it("leads nowhere else, whatever the answer or its source says", () => {
    // The answer's own definition is an ordinary link, of those that are allowed.
    expect(linksIn(written("[1]\n\n[1]: javascript:alert(1)"))).toEqual([]);
    const evil: Source = { ...otters, url: "javascript:alert(1)" };
    expect(linksIn(written("They are back [1].", [evil]))).toEqual([]);
    expect(linksIn(written("[1]".repeat(150)))).toHaveLength(150);
  });
});

it("that came with the stream is a part of the finished answer", () => {
  const thread = { ...emptyThread, live: sending("sonar", 2, "question") };
  const receipt = {
    generationId: "1",
    modelId: "sonar",
    status: "completed",
    createdAt: "2026-11-23T00:00:00.000Z",
    endedAt: null,
  } as Receipt;
  const { all } = afterReceipt(thread, receipt, "They are back [1].", [{ kind: "sources", sources: [otters] }]);
  expect(all[0]?.parts).toEqual([
    { kind: "text", text: "They are back [1]." },
    { kind: "sources", sources: [otters] },
  ]);
  expect(afterReceipt(thread, receipt, "", [{ kind: "sources", sources: [otters] }]).all[0]?.parts).toEqual([]);
});
