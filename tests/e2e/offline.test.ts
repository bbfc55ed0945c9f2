import type { BrowserContext, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitUntil } from "#server/embedded/processes.ts";
import { full } from "#tests/support/full.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import { keptKeys } from "./device-database.ts";
import { keptAddresses, keptConversations, openKept, waitForKept } from "./kept-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

const prompt = "Wie lege ich ein Mosaik?";
const draft = "Ein Entwurf, der nicht verloren gehen darf";

describe("with the server stopped", () => {
  let stage: Stage;
  let reachable = true;
  let device: BrowserContext;
  let conversationAddress = "";
  /** What the server sends with a page: where the browser finds what to fetch ahead. */
  let rules: string | null = null;

  /** Opens the address in a new tab, with nothing in memory. */
  async function open(address: string): Promise<Page> {
    const page = await device.newPage();
    await page.goto(stage.url + address);
    return page;
  }

  async function prepareDevice(): Promise<void> {
    const visitor = await stage.person(true);
    const answer = await visitor.ask({ prompt });
    conversationAddress = `/ai-models?conversation=${answer.turn?.conversationId}`;

    device = await deviceOf(stage, undefined, { serviceWorkers: "allow", locale: "de-DE" });
    const page = await openKept(device, stage.url, "de");
    await page.evaluate((session) => localStorage.setItem("session", session), JSON.stringify(visitor.session));

    await page.goto(`${stage.url}/getting-started`);
    await page.getByRole("button", { name: "Offline speichern" }).click();
    await page.getByRole("link", { name: "Offline gespeichert" }).first().waitFor();
    await page.goto(`${stage.url}/image-generation`);
    await waitForKept(page, "/image-generation?lang=de");

    await page.goto(stage.url + conversationAddress);
    await page.getByText("Sandbox answer").first().waitFor();
    await page.getByLabel("Dein Prompt").fill(draft);
    expect(await waitUntil(async () => (await keptConversations(page)) === 1, 10_000)).toBe(true);
    await page.close();
  }

  beforeAll(async () => {
    stage = await setStage();
    await prepareDevice();
    rules = (await fetch(stage.url)).headers.get("speculation-rules");
    await stage.line.cut();
    reachable = false;
    await expect(fetch(stage.url)).rejects.toThrow();
  }, 180_000);
  afterAll(async () => {
    if (!reachable) await stage?.line.mend();
    await stage?.close();
  });

  it("a cold deep link to a saved guide, a guide only read, pricing and home renders in the reader's language", async () => {
    for (const address of ["/getting-started", "/image-generation", "/pricing", "/"]) {
      const page = await open(address);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      expect(await page.locator("html").getAttribute("lang"), address).toBe("de");
      expect(new URL(page.url()).pathname).toBe(address);
      // The language menu appears, so the page is hydrated.
      await page.getByRole("combobox").first().waitFor();
      if (address === "/pricing") {
        await device.setOffline(true);
        await page.getByText(/Modelle und Preise: Stand \d+\. \p{L}+ 20\d\d\./u).waitFor();
        await device.setOffline(false);
      }
      await page.close();
    }
  });

  it("one's conversation renders with its draft; the list and the offline page both link to it", async () => {
    const page = await open(conversationAddress);
    await page.getByText(prompt).first().waitFor();
    await page.getByText("Sandbox answer").first().waitFor();
    await expect.poll(() => page.getByLabel("Dein Prompt").inputValue()).toBe(draft);
    await page.close();
    for (const address of ["/ai-models", "/offline"]) {
      const from = await open(address);
      await from.getByRole("link", { name: prompt, exact: true }).click();
      await from.waitForURL(stage.url + conversationAddress);
      await from.getByText("Sandbox answer").first().waitFor();
      await from.close();
    }
  });

  it.runIf(full)("a page that is not stored is named by its title, never by its address", async () => {
    const page = await open("/about");
    const heading = page.getByRole("heading", { level: 1 });
    await expect.poll(() => heading.textContent()).toBe("„Über uns“ ist nicht auf diesem Gerät");
    await page.close();
  });

  it.runIf(full)("an unsaved guide shows the offline page in the reader's language, with its title and what is stored", async () => {
    const page = await open("/marketing");
    const heading = page.getByRole("heading", { level: 1 });
    await expect.poll(() => heading.textContent()).toMatch(/nicht auf diesem Gerät/);
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    await page.getByText("Gespeichert am").waitFor();
    await page.getByText("Geöffnet am").first().waitFor();
    await page.close();
  });

  it("an unknown address shows the not-found page in the reader's language; a missing asset gets no HTML", async () => {
    const page = await device.newPage();
    const response = await page.goto(`${stage.url}/nowhere-at-all`);
    expect(response?.status()).toBe(404);
    await page.getByRole("heading", { level: 1, name: "Seite nicht gefunden" }).waitFor();
    await page.getByText("/nowhere-at-all").first().waitFor();
    const asset = await page.evaluate(() =>
      fetch("/assets/gone-12345678.js").then(
        (answer) => answer.status,
        () => "unreachable",
      ),
    );
    expect(asset).toBe("unreachable");
    await page.close();
  });

  it("a link in the product to an unsaved guide shows the same offline page", async () => {
    const page = await open("/getting-started");
    await page.getByRole("contentinfo").getByRole("link", { name: "Offline gespeichert" }).waitFor();
    await page.evaluate(`history.pushState(null, "", "/small-business-ai")`);
    await page.waitForURL((url) => url.pathname === "/offline" && url.searchParams.get("page") === "/small-business-ai");
    await page.getByText("nicht auf diesem Gerät").waitFor();
    await page.close();
  });

  it("no response of the API is stored, and stored pages make the browser fetch nothing ahead", async () => {
    const page = await open("/");
    expect(rules).toContain("speculation-rules");
    const [pages, ahead] = await page.evaluate<[number, string[]]>(`(async () => {
      const found = [0, []];
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
          const { headers } = await cache.match(request);
          if (headers.get("content-type")?.startsWith("text/html")) found[0] += 1;
          if (headers.has("speculation-rules")) found[1].push(request.url);
        }
      }
      return found;
    })()`);
    expect(pages).toBeGreaterThan(3);
    expect(ahead).toEqual([]);
    expect((await keptAddresses(page)).filter((address) => address.startsWith("/api"))).toEqual([]);
    await page.close();
  });

  it("the offline page opens the requested guide as soon as the server is back", async () => {
    const waiting = await open("/marketing");
    await waiting.getByRole("heading", { level: 1 }).first().waitFor();
    await stage.line.mend();
    reachable = true;
    await waiting.waitForURL(`${stage.url}/marketing`);
    await waiting.close();
  });

  it("a file chosen offline is there after a reload and in another tab, is uploaded once when the connection is back, and answered", async () => {
    await device.setOffline(true);
    const page = await open("/ai-models");
    const chip = (of: Page) => of.getByRole("list", { name: "Angehängte Dateien" }).getByRole("listitem");
    const buffer = await sharp({ create: { width: 400, height: 300, channels: 3, background: "teal" } })
      .jpeg()
      .toBuffer();
    await page.locator("input[name=attachments]").setInputFiles({ name: "foto.jpg", mimeType: "image/jpeg", buffer });
    await chip(page).getByText("Du bist offline.").waitFor();
    await expect.poll(async () => (await keptKeys(page)).filter((key) => key.startsWith("file:")).length).toBe(1);
    await page.reload();
    await chip(page).getByText("Du bist offline.").waitFor();
    const other = await open("/ai-models");
    await chip(other).getByText("Du bist offline.").waitFor();
    await device.setOffline(false);
    for (const each of [page, other]) await chip(each).getByText("Sieht das Bild").waitFor();
    expect((await keptKeys(page)).filter((key) => key.startsWith("file:"))).toEqual([]);
    const uploaded = () => stage.db.selectFrom("files").select("id").where("name", "=", "foto.jpg").execute();
    expect(await uploaded()).toHaveLength(1);
    await other.reload();
    await chip(other).getByText("Sieht das Bild").waitFor();
    await page.getByLabel("Dein Prompt").fill("Was ist darauf?");
    await page.keyboard.press("Enter");
    await page.getByText("With your question came a picture of 400 × 300 pixels").waitFor();
    expect(await uploaded()).toHaveLength(1);
    await Promise.all([page.close(), other.close()]);
  });

  it.runIf(full)(
    "a recording and a picture to begin from, chosen offline, are there after a reload and uploaded when the connection is back",
    async () => {
      const page = await open("/ai-models?model=voxtral-small-transcribe-3-0");
      const chip = page.getByRole("list", { name: "Angehängte Dateien" }).getByRole("listitem");
      const reload = async () => {
        await expect.poll(async () => (await keptKeys(page)).filter((key) => key.startsWith("file:")).length).toBe(1);
        await page.reload();
        await chip.getByText("Du bist offline.").waitFor();
      };
      await page.locator("input[name=recording]").waitFor({ state: "attached" });
      await device.setOffline(true);
      await page.locator("input[name=recording]").setInputFiles({ name: "notiz.wav", mimeType: "audio/wav", buffer: makeWav(2) });
      await reload();
      await device.setOffline(false);
      await expect.poll(() => chip.count()).toBe(0);
      await page.getByRole("button", { name: "notiz.wav entfernen" }).click();

      await page.goto(`${stage.url}/ai-models?model=gpt-image-2.6-flare`);
      await page.locator("input[name=references]").waitFor({ state: "attached" });
      await device.setOffline(true);
      const buffer = await sharp({ create: { width: 400, height: 300, channels: 3, background: "teal" } })
        .png()
        .toBuffer();
      await page.locator("input[name=references]").setInputFiles({ name: "vorlage.png", mimeType: "image/png", buffer });
      await reload();
      await device.setOffline(false);
      const references = page.getByRole("list", { name: "Bilder als Vorlage" }).getByRole("listitem");
      await references.waitFor();
      await page.reload();
      await references.waitFor();
      await page.close();
    },
  );

  it("the offline page saves all guides and articles, lists them with their size, and removes one or all", async () => {
    const page = await open("/offline");
    const saved = page.getByText("Gespeichert am");
    await page.getByRole("button", { name: "Alle Anleitungen und Artikel speichern" }).click();
    await expect.poll(() => saved.count()).toBe(11);
    await page.getByText(/\d MB von .+ belegt/).waitFor();
    await page
      .getByRole("button", { name: /^„.+“ entfernen$/ })
      .first()
      .click();
    await expect.poll(() => saved.count()).toBe(10);
    await page.getByRole("button", { name: "Alles Gespeicherte entfernen" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Alles entfernen" }).click();
    await page.getByText("Noch nichts gespeichert").waitFor();
    expect(await keptConversations(page)).toBe(0);
    const kept = await keptAddresses(page);
    expect(kept.filter((address) => address.startsWith("/assets/piece-"))).toEqual([]);
    expect(kept).toContain("/pricing?lang=de");
    await page.close();
  });

  it.runIf(full)("the product opens in a language chosen later, with what was saved before", async () => {
    const choosing = await open("/getting-started");
    await choosing.getByRole("button", { name: "Offline speichern" }).click();
    await choosing.getByRole("link", { name: "Offline gespeichert" }).first().waitFor();
    await choosing.getByRole("combobox").first().selectOption("ja");
    await waitForKept(choosing, "/pricing?lang=ja");
    await waitForKept(choosing, "/getting-started?lang=ja");
    await stage.line.cut();
    reachable = false;
    for (const address of ["/pricing", "/getting-started"]) {
      const page = await open(address);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await expect.poll(() => page.locator("html").getAttribute("lang"), { message: address }).toBe("ja");
      await page.close();
    }
  });
});
