/** What somebody agrees to has a version, which every order keeps: the texts can't change without it. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { languages } from "#domain/languages.ts";
import { orderTexts } from "#domain/orders.ts";
import { read } from "#tests/support/sources.ts";

type Texts = Record<string, unknown>;
const parsed = (file: string) => JSON.parse(read(file)) as Texts;

function hashOf(texts: unknown): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 16);
}

const terms = () => read("client/content/en/terms.md");

/** The notice in the dialog, the consent, and the notice and the form in the confirming mails. */
const withdrawal = () =>
  languages.map(({ code }) => {
    const order = parsed(`client/i18n/locales/${code}/order.json`);
    const refunds = parsed(`client/i18n/locales/${code}/refunds.json`);
    const mails = parsed(`server/features/notifications/locales/${code}.json`);
    return [order.consent, order.how, (refunds.withdrawal as Texts).lead, mails.contract];
  });

/**
 * If a text changes in substance, give it a new version in server/domain/orders.ts and its hash here. If only a typing mistake was mended, the
 * hash alone.
 */
test.each([
  ["terms", terms, "2026-11-27", "f322ceed3da41298"],
  ["withdrawal", withdrawal, "2026-11-23", "cd6ad827dec0cdd0"],
] as const)("the version of the %s belongs to these texts", (name, texts, version, hash) => {
  expect([orderTexts[name], hashOf(texts())]).toEqual([version, hash]);
});

test("the confirming mails attach the terms as the page has them", () => {
  expect(read(`server/features/notifications/terms/${orderTexts.terms}.md`)).toBe(terms());
});
