/** The cards below an answer that has its facts from the web. */
import i18next from "i18next";
import { renderToStaticMarkup } from "react-dom/server";
import { initReactI18next } from "react-i18next/initReactI18next";
import { beforeAll, describe, expect, it } from "vitest";
import { SourceCards } from "#client/features/chat/source-cards.tsx";
import { afterReceipt, emptyThread, sending } from "#client/features/chat/thread.ts";
import chat from "#client/i18n/locales/en/chat.json" with { type: "json" };
import type { Receipt, Source } from "#contract/generations.ts";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", ns: ["chat"], resources: { en: { chat } } });
});

const otters: Source = { mark: 1, url: "https://www.news.example/otters?a=1&b=2", title: "Otters <return>", date: "2026-11-02" };
const river: Source = { mark: 2, url: "https://river.example/report", title: null, date: "last week" };

const draw = (sources: readonly Source[], text = "They are back.") => renderToStaticMarkup(<SourceCards sources={sources} text={text} />);

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
