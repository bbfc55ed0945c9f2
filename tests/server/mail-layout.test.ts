/**
 * Every mail as a mail program shows it. Each day other languages and mails have their turn, `npm run test:full` has all. With
 * SCREENSHOTS=<folder> each leaves its pictures.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LanguageCode } from "#domain/languages.ts";
import { languages } from "#domain/languages.ts";
import { optionalKindOf } from "#domain/notifications.ts";
import { readConfig } from "#server/config.ts";
import { renderMail } from "#server/features/notifications/render.ts";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { daily } from "#tests/support/full.ts";
import type { MailSample } from "#tests/support/mail-samples.ts";
import { earlierMailSamples, mailSamples } from "#tests/support/mail-samples.ts";
import { photograph, photographed } from "#tests/support/photographs.ts";
import { root } from "#tests/support/sources.ts";

const origin = "https://tessera.test";
const config = readConfig(testEnvironment({ applicationUrl: "postgres://nobody@127.0.0.1:9/none" }, { PUBLIC_URL: origin }));
const look = readFileSync(path.join(root, "tests/support/misplaced.js"), "utf8");
const phone = { width: 360, height: 600 };
const samples = [...mailSamples, ...earlierMailSamples];
const codes = languages.map(({ code }) => code);
const inPictures: readonly LanguageCode[] = photographed ? ["en", "de", "ja"] : [];
let page: Page;

beforeAll(async () => {
  page = await (await sharedBrowser()).newPage({ viewport: phone });
}, 60_000);
afterAll(() => page?.close());

async function show({ template, parameters }: MailSample, language: LanguageCode): Promise<void> {
  const kind = optionalKindOf(template);
  // As long as a real one.
  const token = kind && `${"a".repeat(22)}.${kind}.${"b".repeat(43)}`;
  await page.setContent(renderMail(config, { template, language, parameters }, token).html);
}

/** Where the button leads, without the tokens, and whether any other link leads elsewhere. */
async function linksIn(): Promise<{ buttons: string[]; others: string[] }> {
  const hrefs = (selector: string) =>
    page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(({ href }) => href)`);
  return { buttons: await hrefs("a.action"), others: await hrefs("a:not(.action)") };
}

async function takePicture({ name }: MailSample, language: LanguageCode): Promise<void> {
  await page.setViewportSize({ ...phone, height: await page.evaluate<number>("document.documentElement.scrollHeight") });
  await photograph(page, `mail-${name}-${language}`);
  await page.setViewportSize(phone);
}

test.each([...new Set([...daily(codes, 2), ...inPictures])])(
  "every mail in %s fits a narrow phone, nothing overlaps or is cut off, and its button leads to us",
  async (language) => {
    const faults: string[] = [];
    for (const sample of samples) {
      await show(sample, language);
      const misplaced = await page.evaluate<string[]>(`(() => { ${look}; return window.misplaced(); })()`);
      faults.push(...misplaced.map((fault) => `${sample.name}: ${fault}`));
      const { buttons, others } = await linksIn();
      // The team's button answers the person who wrote, and a letter by hand has none.
      const start = sample.template === "contact-message" ? `mailto:${sample.parameters.email}` : `${origin}/`;
      if (buttons.length !== (sample.template === "contact-answer" ? 0 : 1)) faults.push(`${sample.name} has ${buttons.length} buttons`);
      faults.push(...[...buttons, ...others].filter((href) => !href.startsWith(start)).map((href) => `${sample.name} leads to ${href}`));
      if (inPictures.includes(language)) await takePicture(sample, language);
    }
    expect(faults).toEqual([]);
  },
);

test.each(daily(codes))("mails in %s are accessible, in light and dark", async (language) => {
  const faults: string[] = [];
  for (const sample of daily(samples, 12)) {
    await show(sample, language);
    faults.push(...(await violationsOn(page, sample.name, { colorSchemes: themes })));
  }
  expect(faults).toEqual([]);
});
