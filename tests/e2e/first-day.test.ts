/**
 * A person's first day, on the embedded default: they sign up, pay, ask, run out of credits, lose the connection and go on; a month later the
 * plan renews. At every step nothing covers what they need, nothing they wrote vanishes, and there is a way on.
 */
import { mkdir } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import type { LanguageCode } from "#domain/languages.ts";
import { sharedBrowser } from "#tests/support/browser.ts";
import { full } from "#tests/support/full.ts";
import { photographed } from "#tests/support/photographs.ts";
import { copyCluster } from "#tests/support/postgres.ts";
import type { Product, ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { firstDay } from "./first-day-support.ts";
import type { Device } from "./walk-support.ts";
import { Walk } from "./walk-support.ts";

const ways: readonly (readonly [Device, LanguageCode])[] = [
  ["phone", "en"],
  ["desktop", "en"],
  ["phone", "de"],
  ["desktop", "ja"],
];
/** For pictures: each language on each device. */
const all = (["phone", "desktop"] as const).flatMap((device) =>
  (["en", "de", "ja"] as const).map((language) => [device, language] as const),
);

describe("the first day in Chromium on the embedded default", () => {
  let folder: ProductFolder;
  let product: Product;
  let browser: Browser;
  beforeAll(async () => {
    folder = await createProductFolder();
    // An initialised and migrated PostgreSQL: how one is made is supervisor.test.ts's.
    await mkdir(folder.dataDir, { recursive: true });
    await copyCluster(inject("postgres").preparedFolder, folder.dataDir);
    product = folder.start();
    await product.said("Sandbox", 120_000);
    browser = await sharedBrowser();
  }, 150_000);
  afterAll(async () => {
    await folder?.remove();
  });

  it.each(photographed ? all : full ? ways : ways.slice(0, 1))(
    "on a %s in %s: sign up → mailed link → checkout → active by live push → answers → out of credits → offline → online → renewed",
    async (device, language) => {
      const walk = await Walk.begin({ browser, product, device, language });
      await firstDay(walk, folder.dataDir);
      await walk.end();
    },
    300_000,
  );
});
