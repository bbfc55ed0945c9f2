import { randomUUID } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import { keep, kept } from "./device-database.ts";
import {
  exhaustedAddress,
  faultsIn,
  fillLetter,
  hasFocus,
  marks,
  megabyte,
  messagesFrom,
  newAddress,
  onFreshPages,
  sendLetter,
  settle,
  spaces,
  waitingForms,
} from "./forms-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, pageOf } from "./support.ts";

let stage: Stage;
let context: BrowserContext;
let page: Page;
onFreshPages((fresh) => {
  ({ stage, context, page } = fresh);
});

describe("the contact form (specification §4, §5)", () => {
  async function open(query = ""): Promise<void> {
    await page.goto(`${stage.url}/contact${query}`);
    await page.waitForSelector("html[data-live]");
    await settle(page);
  }

  const keptMessage = async () =>
    ((await kept(page, "draft:visitor:contact")) as { fields: { message: string } } | undefined)?.fields.message;

  const edges: [string, { name?: string; email?: string; subject?: string; message?: string }, string[]][] = [
    ["nothing", { name: "", email: "", message: "" }, ["Name is required", "Invalid email address", "Message is required"]],
    ["only spaces", { name: spaces, email: spaces, message: spaces }, ["Name is required", "Invalid email address", "Message is required"]],
    [
      "only direction marks",
      { name: marks, email: marks, message: marks },
      ["Name is required", "Invalid email address", "Message is required"],
    ],
    [
      "only angle brackets",
      { name: "<>", email: "<>", message: "< >" },
      ["Name is required", "Invalid email address", "Message is required"],
    ],
    ["one character each", { name: "A", email: "a", message: "b" }, ["Invalid email address"]],
    [
      "the longest allowed values",
      { name: "n".repeat(100), subject: "s".repeat(200), message: "m".repeat(5_000) },
      ["Invalid email address"],
    ],
    [
      "the longest allowed values in emoji, each counted as one character",
      { name: "🧱".repeat(100), subject: "🧱".repeat(200), message: "🧱".repeat(5_000) },
      ["Invalid email address"],
    ],
    [
      "spaces around the longest allowed values",
      { name: ` ${"n".repeat(100)} `, message: ` ${"m".repeat(5_000)}\n` },
      ["Invalid email address"],
    ],
    ["angle brackets around a word", { name: "<b>Ada</b>", message: "<script>" }, ["Invalid email address"]],
    [
      "one character too many each",
      { name: "n".repeat(101), email: `${"e".repeat(244)}@example.com`, subject: "s".repeat(201), message: "m".repeat(5_001) },
      [
        "Name must be less than 100 characters. Use 100 or fewer",
        "Email must be less than 255 characters. Use 255 or fewer",
        "Subject must be less than 200 characters. Use 200 or fewer",
        "Message must be less than 5000 characters. Use 5000 or fewer",
      ],
    ],
    [
      "a megabyte of each",
      { name: megabyte, email: megabyte, subject: megabyte, message: megabyte },
      [
        "Name must be less than 100 characters. Use 100 or fewer",
        "Email must be less than 255 characters. Use 255 or fewer",
        "Subject must be less than 200 characters. Use 200 or fewer",
        "Message must be less than 5000 characters. Use 5000 or fewer",
      ],
    ],
  ];

  describe("at the limits", () => {
    // No case leaves the form, so all use one page.
    let edgePage: Page;
    const calls: string[] = [];
    beforeEach(async () => {
      if (edgePage) return;
      edgePage = await stage.browser.newPage({ serviceWorkers: "block", locale: "en-GB", reducedMotion: "reduce" });
      edgePage.on("request", (request) => request.url().endsWith("/api/contact") && calls.push(request.url()));
      await edgePage.goto(`${stage.url}/contact`);
      await settle(edgePage);
    });
    afterAll(() => edgePage?.context().close());

    // The rules themselves are tested one by one (tests/server/contact.test.ts); this shows that the form has them.
    const shown = full ? edges : edges.filter((_, index) => index % 3 === 0);
    it.each(shown)("answers %s with the specification's words at the fields, and sends nothing", async (_, letter, faults) => {
      await fillLetter(edgePage, { subject: "", ...letter });
      await sendLetter(edgePage);
      await expect.poll(() => faultsIn(edgePage, "main form")).toEqual(faults);
      await expect.poll(() => edgePage.evaluate('document.activeElement?.getAttribute("aria-invalid")')).toBe("true");
      expect(calls).toEqual([]);
      // The form does not cut off what was typed.
      if (letter.message !== undefined && letter.message !== spaces) {
        expect(await edgePage.getByLabel("Message").inputValue()).toBe(letter.message);
      }
    });
  });

  it.runIf(full)("sends an address of 255 and a message of 5,000 characters, and shows the characters left near the limit", async () => {
    await open();
    const label = (length: number) => "d".repeat(length);
    const email = `${label(64)}@${label(63)}.${label(63)}.${label(59)}.eu`;
    expect(email).toHaveLength(255);
    await fillLetter(page, { email, message: "m".repeat(4_499) });
    expect(await page.getByText(/characters? left/).count()).toBe(0);
    await fillLetter(page, { email, message: "m".repeat(4_999) });
    await page.locator("p", { hasText: "1 character left" }).waitFor();
    await fillLetter(page, { email, message: "m".repeat(5_000) });
    await sendLetter(page);
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
  });

  it("sends a message once, confirms it and offers to write another one", async () => {
    const email = newAddress();
    await open();
    await fillLetter(page, { email, subject: "On tiles", message: "They are <small> & many." });
    await page.getByLabel("Category").selectOption("bug");
    await sendLetter(page);
    const sent = page.getByRole("heading", { name: "Message sent" });
    await sent.waitFor();
    await page.getByText(`A confirmation is on its way to ${email}.`).waitFor();
    await expect.poll(() => hasFocus(sent)).toBe(true);
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
    await page.getByRole("button", { name: "Send another message" }).click();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("");
    expect(await page.getByLabel("Email").inputValue()).toBe(email);
    await expect.poll(() => kept(page, "draft:visitor:contact")).toBeUndefined();
  });

  it("keeps what was typed after a reload, and fills in a signed-in person's address", async () => {
    await open();
    await fillLetter(page, { email: "ada@example.com", subject: "Half", message: "Half a thou" });
    await page.getByLabel("Category").selectOption("feature");
    // The draft is stored shortly after it is typed.
    await expect.poll(() => kept(page, "draft:visitor:contact")).toMatchObject({ fields: { category: "feature" } });
    await page.reload();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Half a thou");
    expect(await page.getByLabel("Subject").inputValue()).toBe("Half");
    expect(await page.getByLabel("Category").inputValue()).toBe("feature");

    const visitor = await stage.person(false);
    const ownPage = await pageOf(stage, visitor);
    await ownPage.goto(`${stage.url}/contact`);
    await expect.poll(() => ownPage.locator("[name=email]").inputValue()).toBe(visitor.email);
  });

  it("takes values from a link once, without replacing what was typed before", async () => {
    await open("?category=bug&subject=Price&message=Where%20is%20it%3F&lang=en");
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Where is it?");
    expect(await page.getByLabel("Category").inputValue()).toBe("bug");
    expect(await page.getByLabel("Subject").inputValue()).toBe("Price");
    await expect.poll(() => new URL(page.url()).search).not.toMatch(/category|subject|message/);
    await expect.poll(keptMessage).toBe("Where is it?");
    await page.goto(`${stage.url}/contact?category=nonsense&message=And%20this`);
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Where is it?\n\nAnd this");
    expect(await page.getByLabel("Category").inputValue()).toBe("bug");
    await expect.poll(keptMessage).toBe("Where is it?\n\nAnd this");
    await page.reload();
    await settle(page);
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Where is it?\n\nAnd this");
  });

  it("keeps the text when the server refuses it, and says why", async () => {
    const email = await exhaustedAddress(stage);
    await open();
    await fillLetter(page, { email, message: "The sixth in an hour" });
    await sendLetter(page);
    await page.getByText(/Too many attempts/).waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe("The sixth in an hour");
    await page.reload();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("The sixth in an hour");
  });

  it.runIf(full)("gives a robot that fills in the honeypot the usual answer, and stores nothing", async () => {
    const email = newAddress();
    await open();
    await fillLetter(page, { email, message: "Buy tiles" });
    await page.locator("[name=website]").evaluate((field) => Object.assign(field, { value: "https://example.com" }));
    await sendLetter(page);
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    const sentLater = newAddress();
    await page.getByRole("button", { name: "Send another message" }).click();
    await fillLetter(page, { email: sentLater, message: "A real one" });
    await sendLetter(page);
    await expect.poll(() => messagesFrom(stage, sentLater)).toBe(1);
    expect(await messagesFrom(stage, email)).toBe(0);
  });
});

describe("a form without a connection", () => {
  async function writeOffline(email: string): Promise<void> {
    await page.goto(`${stage.url}/contact`);
    await settle(page);
    await context.setOffline(true);
    await fillLetter(page, { email, message: "From a tunnel" });
    await sendLetter(page);
    await page.getByRole("heading", { name: "Waiting for a connection" }).waitFor();
  }

  it.runIf(hasTurn("queued", "two tabs"))("is sent once when two tabs are online again, and the page says so", async () => {
    const email = newAddress();
    const other = await context.newPage();
    await other.goto(`${stage.url}/pricing`);
    await settle(other);
    await page.bringToFront();
    const posts: string[] = [];
    context.on("request", (request) => request.url().endsWith("/api/contact") && posts.push(request.url()));
    await writeOffline(email);
    await context.setOffline(false);
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
    expect(posts).toHaveLength(1);
    await page.reload();
    await settle(page);
    expect(posts).toHaveLength(1);
  });

  it.runIf(full)("is sent at the next start if its tab was closed, and a message says so", async () => {
    const email = newAddress();
    await writeOffline(email);
    await page.close();
    await context.setOffline(false);
    page = await context.newPage();
    await page.goto(`${stage.url}/pricing`);
    await page.getByText("The message you wrote earlier has reached the team.").waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it.runIf(hasTurn("queued", "reload"))(
    "is shown as waiting after a reload, on its page and on the offline page, and then as sent",
    async () => {
      const email = newAddress();
      context = await deviceOf(stage, undefined, { reducedMotion: "reduce" });
      // Otherwise the offline page waits 20 s for the worker that this device blocks.
      await context.addInitScript("delete Navigator.prototype.serviceWorker");
      page = await context.newPage();
      await context.route("**/api/contact", (route) => route.abort());
      await writeOffline(email);
      await context.setOffline(false);
      for (const address of ["/offline", "/contact"]) {
        await page.goto(stage.url + address);
        await page.getByText(/^Your message of .+ waits for a connection\./).waitFor();
      }
      await context.unroute("**/api/contact");
      await page.reload();
      await page.getByText(/^Your message of .+ reached the team on .+\./).waitFor();
      await expect.poll(() => page.getByText(/waits for a connection\./).count()).toBe(0);
      await expect.poll(() => messagesFrom(stage, email)).toBe(1);
    },
  );

  it.runIf(hasTurn("queued", "lost response"))("is stored once if the response was lost", async () => {
    const email = newAddress();
    await page.goto(`${stage.url}/contact`);
    await settle(page);
    await page.route(
      "**/api/contact",
      async (route) => {
        await route.fetch();
        await route.abort("connectionreset");
      },
      { times: 1 },
    );
    await fillLetter(page, { email, message: "Once" });
    await sendLetter(page);
    await page.getByRole("heading", { name: "Waiting for a connection" }).waitFor();
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it.runIf(hasTurn("queued", "server away"))("is retried while the server is away, even if the browser reports a connection", async () => {
    const email = newAddress();
    await page.goto(`${stage.url}/contact`);
    await settle(page);
    await stage.line.cut();
    try {
      await fillLetter(page, { email, message: "To a server asleep" });
      await sendLetter(page);
      await page.getByRole("heading", { name: "Waiting for a connection" }).waitFor();
      // Wait until the queue's first attempt has failed.
      await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/contact"));
    } finally {
      await stage.line.mend();
    }
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it("returns to the form if the server refuses it, with a message and the reason at its field", async () => {
    await page.goto(`${stage.url}/terms`);
    await settle(page);
    const fields = { name: "Ada", email: "ada@example", category: "bug", subject: "", message: "It was refused" };
    const refusal = { code: "validation_failed", fields: [{ field: "email", message: "Invalid email address" }] };
    const form = {
      id: randomUUID(),
      form: "contact",
      owner: null,
      fields,
      website: "",
      language: "en",
      queuedAtMs: 1,
      attempts: 1,
      dueAtMs: 1,
    };
    await keep(page, `form:${form.id}`, { ...form, refusal, version: 1 });
    await page.reload();
    await page.getByText("Your message was not accepted").waitFor();
    await page.getByRole("button", { name: "Open the form" }).click();
    await page.waitForURL("**/contact");
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("It was refused");
    await expect.poll(() => faultsIn(page, "main form")).toEqual(["Invalid email address"]);
    await expect.poll(() => kept(page, `form:${form.id}`)).toBeUndefined();
    await expect.poll(() => kept(page, "draft:visitor:contact")).toMatchObject({ fields });
  });

  it.runIf(full)("is kept with its text if the server refuses the whole request", async () => {
    const email = newAddress();
    await writeOffline(email);
    const [id = ""] = await waitingForms(page);
    // Another message was sent before with the same key.
    const taken = await fetch(`${stage.url}/api/contact`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify({ name: "Ada", email: newAddress(), category: "support", message: "Other" }),
    });
    expect(taken.status).toBe(202);
    await context.setOffline(false);
    await page.getByText(/already sent with other content/).waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe("From a tunnel");
    await sendLetter(page);
    await page.getByRole("heading", { name: "Message sent" }).waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });
});
