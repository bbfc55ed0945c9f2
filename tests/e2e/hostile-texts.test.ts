/** Nothing that a person or a model writes does more in a page than be read: no script, no request to elsewhere, no hostile link. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { renderMail } from "#server/features/notifications/render.ts";
import { makeExport } from "#server/features/own-data/exports.ts";
import { hazardsIn, setTraps } from "#tests/support/browser-traps.ts";
import { full } from "#tests/support/full.ts";
import { hostileAddresses, hostileTexts } from "#tests/support/hostile-texts.ts";
import { hasTurn } from "#tests/support/turns.ts";
import { readZip } from "#tests/support/zip.ts";
import type { HostileWorld, Reader } from "./hostile-support.ts";
import {
  askEverything,
  asked,
  askWithFiles,
  byClass,
  insertSessions,
  insertTitles,
  namedLikeTexts,
  openReader,
  openWorld,
  some,
  titleOf,
  today,
  writeToTeam,
} from "./hostile-support.ts";

let world: HostileWorld;
let conversationId: string;
const readers: Reader[] = [];
beforeAll(async () => {
  world = await openWorld();
  conversationId = await askEverything(world);
  await insertTitles(world);
  await insertSessions(world);
}, 240_000);
afterAll(() => world?.close());
afterEach(async () => {
  for (const { context } of readers.splice(0)) await context.close();
});

async function open(options?: Parameters<typeof openReader>[1]): Promise<Reader> {
  const reader = await openReader(world, options);
  readers.push(reader);
  return reader;
}

it(`${hostileTexts.length} texts are hostile: a page that takes them for HTML runs scripts and asks elsewhere`, async () => {
  expect(hostileTexts.length).toBeGreaterThanOrEqual(150);
  const context = await world.browser.newContext();
  const traps = await setTraps(context, "http://unprotected.example");
  await context.route("http://unprotected.example/**", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  const page = await context.newPage();
  await page.goto("http://unprotected.example/");
  const quiet = new Map(asked.filter(({ name }) => /^(html|mutations):/.test(name)).map(({ name, text }) => [name, text]));
  const all = quiet.size;
  const tryQuiet = async () => {
    for (const [name, text] of quiet) {
      if (!full && quiet.size < all) break;
      const before = traps.caught.length;
      await page.setContent(text, { waitUntil: "commit" }).catch(() => {});
      await page.waitForTimeout(20);
      if (traps.caught.length > before) quiet.delete(name);
      if (page.url() !== "http://unprotected.example/") await page.goto("http://unprotected.example/");
    }
    return all - quiet.size;
  };
  // A busy machine needs more than one round.
  await expect.poll(tryQuiet).toBeGreaterThanOrEqual(full ? 45 : 1);
  await context.close();
});

// First, since it needs a factor that was shown within ten minutes.
it("in a person's export they are JSON, word for word, in a file that no browser opens as a page", async () => {
  const { product, session } = world;
  const headers = { authorization: `Bearer ${session.access_token}` };
  const ordered = await product.post("/api/account/exports", {}, { headers });
  const { id } = ordered.json().latest;
  await makeExport(product.deps, id);
  const answer = await product.app.inject({ url: `/api/account/exports/${id}/file`, headers });
  expect(answer.headers).toMatchObject({
    "content-type": "application/zip",
    "content-disposition": 'attachment; filename="tessera-data.zip"',
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  const files = readZip(answer.rawPayload);
  expect(files.get("README.md")).not.toMatch(/elsewhere|alert[(`]|<[a-z!/]/i);
  const messages = JSON.parse(files.get("messages.json") ?? "") as { role: string; text?: string; parts?: { text: string }[] }[];
  const texts = asked.map(({ text }) => text.trim());
  expect(messages.flatMap(({ text }) => text ?? [])).toEqual(expect.arrayContaining(texts));
  expect(messages.flatMap(({ parts = [] }) => parts.map(({ text }) => text))).toEqual(expect.arrayContaining(texts));
});

it("as questions and answers of a conversation they are text, and their links lead to the web or a mail", async () => {
  const { page, traps } = await open();
  await page.goto(`${world.url}/ai-models?conversation=${conversationId}`);
  await expect.poll(() => page.locator("article").count()).toBe(2 * asked.length);
  await page.locator("math").first().waitFor({ state: "attached" });
  const questions = await page.locator("article p[class*=prompt]").allTextContents();
  expect(questions).toEqual(asked.map(({ text }) => text.trim()));
  expect(await hazardsIn(page)).toEqual([]);
  const hrefs = await page.locator("article a").evaluateAll((links) => links.map((link) => link.protocol));
  // An address without its scheme becomes a link with http. It is not among the fourth.
  expect(new Set(hrefs)).toEqual(new Set(["https:", "mailto:", ...(full ? ["http:"] : [])]));
  const elements = await page.locator("article [class*=markdown] *").evaluateAll((all) => all.map(({ localName }) => localName));
  expect([...new Set(elements)].filter((name) => /^(img|svg|form|input|style|link|video|audio|template|b|body)$/.test(name))).toEqual([
    "svg",
  ]);
  expect(traps.caught).toEqual([]);
});

it.runIf(hasTurn("hostile", "growing"))("while an answer grows letter by letter no part of it does more either", async () => {
  const { page, traps } = await open();
  world.provider.pace.milliseconds = 1;
  // Class by class, or one of each in a single answer.
  const answers = full ? byClass(asked) : [["one of each class", some(1)] as const];
  for (const [name, texts] of answers) {
    await page.goto(`${world.url}/ai-models?model=gpt-6-luna`);
    await page.getByLabel("Your prompt").fill(
      texts
        .map(({ text }) => text)
        .join("\n\n")
        .slice(0, 9_000),
    );
    await page.getByText("This answer costs 1 credit").waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByText(/1 credit charged/)
      .first()
      .waitFor();
    expect(await hazardsIn(page), name).toEqual([]);
  }
  world.provider.pace.milliseconds = 0;
  expect(traps.caught).toEqual([]);
});

it.runIf(hasTurn("hostile", "titles"))(
  "as titles they are text in the list, the search, the dialogs and among what is kept on the device",
  async () => {
    const { page, traps } = await open();
    await page.goto(`${world.url}/ai-models`);
    const list = page.getByRole("navigation", { name: "Conversations" });
    const older = list.getByRole("button", { name: "Show older ones" });
    await older.waitFor();
    while (await older.isVisible()) {
      const before = await list.locator("li").count();
      await older.click();
      await expect.poll(() => list.locator("li").count()).toBeGreaterThan(before);
    }
    const titles = await list.locator("li a").allTextContents();
    expect(titles).toEqual(expect.arrayContaining(hostileTexts.map(({ text }) => titleOf(text))));
    for (const title of [`"><img src=x onerror="alert(1)">`, "{{email}} {{userId}} {{constructor.constructor('alert(1)')()}}"]) {
      const row = list
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name: title, exact: true }) })
        .first();
      for (const [action, heading] of [
        ["Rename", "Rename this conversation"],
        ["Delete", "Delete this conversation?"],
      ] as const) {
        await row.hover();
        await row.getByRole("button", { name: `Options for “${title}”` }).click();
        await page.locator(":popover-open").getByRole("button", { name: action, exact: true }).click();
        const dialog = page.getByRole("dialog", { name: heading });
        await dialog.waitFor();
        if (action === "Delete") expect(await dialog.textContent()).toContain(title);
        expect(await hazardsIn(page)).toEqual([]);
        await dialog.getByRole("button", { name: "Close" }).click();
        await dialog.waitFor({ state: "detached" });
      }
    }
    const search = page.getByLabel("Search conversations").first();
    for (const words of ["onerror=alert(1)", "<script>", "javascript:", "$t(errors:unexpected) {{email}}", "\\href{"]) {
      await Promise.all([page.waitForResponse(/\/api\/conversations\/search/), search.fill(words)]);
      await list.getByText(/conversations? found|Nothing found/).waitFor();
      expect(await hazardsIn(page), words).toEqual([]);
    }
    await search.fill("");
    await list.getByRole("link", { name: "<svg onload=alert(1)>", exact: true }).click();
    await page.waitForURL(/conversation=/);
    await page.goto(`${world.url}/offline`);
    await page.waitForSelector("html[data-live] main h1");
    expect(await hazardsIn(page)).toEqual([]);
    expect(traps.caught).toEqual([]);
  },
);

it.runIf(hasTurn("hostile", "files"))("as names of attached files, and as sources of an answer, they are text", async () => {
  const { page, traps } = await open();
  const { conversationId: withFiles, names } = await askWithFiles(world, some(full ? 6 : 2));
  await page.goto(`${world.url}/ai-models?conversation=${withFiles}`);
  const attached = page.getByRole("list", { name: "Attached files" }).getByRole("listitem");
  await expect.poll(() => attached.count()).toBe(names.length);
  expect(await attached.allTextContents()).toEqual(names.map((name) => expect.stringContaining(name)));
  const cards = page.getByRole("region", { name: "Sources" }).getByRole("link");
  await expect.poll(() => cards.count()).toBeGreaterThanOrEqual(names.length);
  for (const href of await cards.evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? "")))
    expect(["http:", "https:"]).toContain(new URL(href, world.url).protocol);
  expect(await hazardsIn(page)).toEqual([]);
  expect(traps.caught).toEqual([]);
});

it.runIf(hasTurn("hostile", "panel"))(
  "in a message to the team, and as a person's name and browsers, they are text in the panel",
  async () => {
    const clerk = await world.product.join();
    await world.product.asOwner(`update users set role = 'admin' where id = '${clerk.user.id}'`);
    const name = `"><img src=x onerror=alert(1)>`;
    await world.product.asOwner(`update users set name = '${name}' where id = '${world.session.user.id}'`);
    const sent = await writeToTeam(world, some(full ? 4 : 1));
    const { page, traps } = await open({ session: clerk });
    const address = `${world.url}/admin`;
    await page.goto(`${address}/inbox`);
    await page
      .getByText(/writer\d+@example\.com/)
      .first()
      .waitFor();
    expect(await hazardsIn(page)).toEqual([]);
    const messages = await world.product.db.selectFrom("contact_messages").select("id").execute();
    expect(messages.length).toBe(sent);
    for (const { id } of messages) {
      await page.goto(`${address}/inbox/${id}`);
      await page.getByText("This is a message about").first().waitFor();
      expect(await hazardsIn(page), id).toEqual([]);
    }
    for (const path of ["people", `people/${world.session.user.id}`]) {
      await page.goto(`${address}/${path}`);
      await page.getByText(name).first().waitFor();
      await page.waitForLoadState("networkidle");
      expect(await hazardsIn(page), path).toEqual([]);
    }
    expect(traps.caught).toEqual([]);
  },
);

it.runIf(hasTurn("hostile", "account"))("as name, browser and time zone they are text in the account", async () => {
  const { page, traps } = await open();
  const authorization = `Bearer ${world.session.access_token}`;
  await world.product.app.inject({
    method: "PATCH",
    url: "/api/account",
    headers: { authorization },
    payload: { name: `"><img src=x onerror=alert(1)>` },
  });
  for (const path of ["/profile", "/profile/security", "/profile/data"]) {
    await page.goto(world.url + path);
    await page.waitForSelector("html[data-live] main h1");
    if (path === "/profile/security") await expect.poll(() => page.getByText("Chrome on Windows").count()).toBe(namedLikeTexts.length);
    await page.waitForLoadState("networkidle");
    expect(await hazardsIn(page), path).toEqual([]);
  }
  expect(traps.caught).toEqual([]);
});

it("in an address, as a prompt, a message, a way back or a page that does not exist, they are text", { timeout: 600_000 }, async () => {
  const { page, traps } = await open();
  // An eighth of them in one of the three places, every day in others; `npm run test:full` has all.
  const addresses = some(full ? 6 : 1).flatMap(({ text }, index) => {
    const encoded = encodeURIComponent(text);
    const places = [
      `/ai-models?model=gpt-6-luna&prompt=${encoded}`,
      `/contact?category=bug&subject=${encoded}&message=${encoded}`,
      `/${encoded.replaceAll("%2F", "/")}`,
    ];
    return places.filter((_, place) => full || place === (index + today) % (8 * places.length));
  });
  const ways = Object.values(hostileAddresses).filter((_, index) => full || index % 20 === today % 20);
  for (const way of ways) addresses.push(`/auth?return=${encodeURIComponent(way)}`, `/offline?page=${encodeURIComponent(way)}`);
  for (const address of addresses) {
    const response = await page.goto(world.url + address);
    // An address that ends like a file's is no page.
    if (response?.headers()["content-type"]?.startsWith("text/html")) await page.waitForSelector("html[data-live] main h1");
    else expect(response?.headers()["content-type"], address).toBe("application/problem+json; charset=utf-8");
    expect(await hazardsIn(page), address).toEqual([]);
    expect(new URL(page.url()).origin, address).toBe(world.url);
  }
  expect(traps.caught).toEqual([]);
});

it.runIf(hasTurn("hostile", "support"))("asked of the support widget they are text", async () => {
  const { page, traps } = await open();
  await page.goto(`${world.url}/about`);
  await page.getByRole("button", { name: "Support" }).click();
  for (const [index, { text }] of some(1).entries()) {
    await page.getByLabel("Your question").fill(text.slice(0, 200));
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("log").locator("div[class*=answer]").count()).toBe(index + 1);
  }
  expect(await hazardsIn(page)).toEqual([]);
  expect(traps.caught).toEqual([]);
});

it("in a mail they are text, even for a reader that runs everything", async () => {
  const context = await world.browser.newContext();
  const traps = await setTraps(context, "http://mail.example");
  const page = await context.newPage();
  for (const { name, text } of asked) {
    const parameters = {
      name: text,
      email: "ada@example.com",
      topic: text,
      category: "bug",
      message: text,
      reference: text,
      senderLanguage: "de",
    };
    const mail = renderMail(world.product.config, { template: "contact-message", language: "en", parameters });
    await page.setContent(mail.html);
    // The mail's own style is the only element of its kind.
    const found = (await hazardsIn(page)).filter((hazard) => !/^the element <style>:root|^the unmarked link/.test(hazard));
    expect(found, name).toEqual([]);
    expect(await page.locator(".detail").evaluate((element) => element.textContent), name).toBe(text.replaceAll(/\r\n?/g, "\n"));
    expect(await page.locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href")))).toEqual([
      "mailto:ada@example.com",
      "mailto:ada@example.com",
    ]);
  }
  await context.close();
  expect(traps.caught).toEqual([]);
});
