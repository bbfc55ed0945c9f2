/** Mails on a narrow phone: the long addresses of mailed links break, in languages that are broken by phrase as well. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { languages } from "#domain/languages.ts";
import { readConfig } from "#server/config.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { testEnvironment } from "#tests/support/deps.ts";

const config = readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:9/none" }));
const width = 360;
const at = "2026-12-31T23:30:00Z";
const parameters = {
  linkId: "01a21fc4-5dbc-7dc7-ae28-7689927909c3",
  plan: "professional",
  amountCents: 4999,
  graceUntil: at,
  invoiceId: "in_1SNN9ns9j5lpYGbaecfGEWHtr",
};
let page: Page;

beforeAll(async () => {
  page = await (await sharedBrowser()).newPage({ viewport: { width, height: 600 } });
}, 60_000);
afterAll(() => page?.close());

test.each(["confirm-email", "payment-failed"] as const)("%s is as wide as the screen in every language", async (template) => {
  const widths: Record<string, number> = {};
  for (const { code } of languages) {
    await page.setContent(renderMail(config, { template, language: code, parameters }).html);
    widths[code] = await page.evaluate<number>("document.documentElement.scrollWidth");
  }
  expect(widths).toEqual(Object.fromEntries(languages.map(({ code }) => [code, width])));
});
