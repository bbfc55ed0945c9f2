/** decisions.md, "Language": an address with `?lang=` is an explicit choice, and so is the switcher; the later one stands. */
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

it("a language chosen on a page whose address names another outlasts a reload, and the rest of the address stays", async () => {
  vi.stubGlobal("location", new URL(`${origin}/pricing?billing=annual&lang=fr#packs`));
  await setUpTexts([], undefined);
  expect([i18next.language, page.storage.get("language")]).toEqual(["fr", "fr"]);
  await chooseLanguage("de");
  expect(location.href).toBe(`${origin}/pricing?billing=annual#packs`);
  // What a reload would find.
  await followReader();
  expect([i18next.language, page.storage.get("language")]).toEqual(["de", "de"]);
  expect(document.cookie).toMatch(/^language=de;/);
});
