/** `?lang=` in an address and the language switcher are both explicit choices: the later one wins (docs/decisions/0009). */
import i18next from "i18next";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { chooseLanguage, followReader, setUpTexts } from "#client/i18n/set-up.ts";
import { origin, stubPage } from "./page-stubs.ts";

let page: ReturnType<typeof stubPage>;
beforeEach(() => {
  page = stubPage();
  vi.stubGlobal("document", { documentElement: { lang: "en" }, cookie: "" });
  vi.stubGlobal("navigator", { languages: ["en"] });
  vi.stubGlobal("history", {
    state: { kept: true },
    replaceState: (_state: unknown, _title: string, address: string) => vi.stubGlobal("location", new URL(address, location.href)),
  });
});
afterEach(() => vi.unstubAllGlobals());

it("a language chosen on a page with ?lang= is kept after a reload, and the rest of the address stays", async () => {
  vi.stubGlobal("location", new URL(`${origin}/pricing?billing=annual&lang=fr#packs`));
  await setUpTexts([], undefined);
  expect([i18next.language, page.storage.get("language")]).toEqual(["fr", "fr"]);
  await chooseLanguage("de");
  expect(location.href).toBe(`${origin}/pricing?billing=annual#packs`);
  // A reload does this.
  await followReader();
  expect([i18next.language, page.storage.get("language")]).toEqual(["de", "de"]);
  expect(document.cookie).toMatch(/^language=de;/);
});

it("the stored choice comes before the browser's languages, and these before the page's own", async () => {
  document.documentElement.lang = "pl";
  const detected = async (browser: string[]) => {
    vi.stubGlobal("navigator", { languages: browser });
    await followReader();
    return i18next.language;
  };
  await setUpTexts([], undefined);
  expect(await detected(["nl", "fr-CA", "de"])).toBe("fr");
  document.documentElement.lang = "pl";
  expect(await detected(["nl"])).toBe("pl");
  expect(page.storage.has("language")).toBe(false);
  page.storage.set("language", "it");
  expect(await detected(["fr"])).toBe("it");
});
