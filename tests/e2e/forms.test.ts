import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keep, kept } from "./device-database.ts";
import {
  banner,
  card,
  coveredFocus,
  faultsIn,
  fillLetter,
  hasFocus,
  messagesFrom,
  newAddress,
  openWithCard,
  propertiesOf,
  sendLetter,
  settle,
  waitingForms,
} from "./forms-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

interface AxeReport {
  violations: { id: string; nodes: { target: unknown }[] }[];
}

let stage: Stage;
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  stage = await setStage();
}, 150_000);
afterAll(() => stage?.close());
beforeEach(async () => {
  context = await deviceOf(stage, undefined, { reducedMotion: "reduce" });
  page = await context.newPage();
});
afterEach(() => context.close());

let exhausted: string | undefined;

/** Has written as often as one may in an hour: the next message is refused. Found once, since this machine may write only so often too. */
async function exhaustedAddress(): Promise<string> {
  if (exhausted) return exhausted;
  const email = newAddress();
  for (const message of ["1", "2", "3", "4", "5"]) {
    const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
    const body = JSON.stringify({ name: "Ada", email, category: "support", message });
    const response = await fetch(`${stage.url}/api/contact`, { method: "POST", headers, body });
    expect(response.status).toBe(202);
  }
  exhausted = email;
  return email;
}

const spaces = " \t\n\u00a0 ";
const marks = "\u200f\u200e\u202e\u2067\u2069\u200b\ufeff";
const megabyte = "x".repeat(1_048_576);

describe("the contact form (spec §4, §5)", () => {
  async function open(query = ""): Promise<void> {
    await page.goto(`${stage.url}/contact${query}`);
    await page.waitForSelector("html[data-live]");
    await settle(page);
  }

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
    ["one of each", { name: "A", email: "a", message: "b" }, ["Invalid email address"]],
    ["as much as may be", { name: "n".repeat(100), subject: "s".repeat(200), message: "m".repeat(5_000) }, ["Invalid email address"]],
    [
      "emoji, each of which is one",
      { name: "🧱".repeat(100), subject: "🧱".repeat(200), message: "🧱".repeat(5_000) },
      ["Invalid email address"],
    ],
    ["spaces round as much as may be", { name: ` ${"n".repeat(100)} `, message: ` ${"m".repeat(5_000)}\n` }, ["Invalid email address"]],
    ["brackets round a word", { name: "<b>Ada</b>", message: "<script>" }, ["Invalid email address"]],
    [
      "one too many",
      { name: "n".repeat(101), email: `${"e".repeat(244)}@example.com`, subject: "s".repeat(201), message: "m".repeat(5_001) },
      [
        "Name must be less than 100 characters",
        "Email must be less than 255 characters",
        "Subject must be less than 200 characters",
        "Message must be less than 5000 characters",
      ],
    ],
    [
      "a megabyte of each",
      { name: megabyte, email: megabyte, subject: megabyte, message: megabyte },
      [
        "Name must be less than 100 characters",
        "Email must be less than 255 characters",
        "Subject must be less than 200 characters",
        "Message must be less than 5000 characters",
      ],
    ],
  ];

  describe("at the edges", () => {
    let edgeContext: BrowserContext;
    let edgePage: Page;
    const calls: string[] = [];
    beforeAll(async () => {
      edgeContext = await deviceOf(stage, undefined, { reducedMotion: "reduce" });
      edgePage = await edgeContext.newPage();
      edgePage.on("request", (request) => request.url().endsWith("/api/contact") && calls.push(request.url()));
      await edgePage.goto(`${stage.url}/contact`);
      await settle(edgePage);
    });
    afterAll(() => edgeContext.close());

    it.each(edges)("meets %s with the specification's words at the fields, and nothing else", async (_, letter, faults) => {
      await fillLetter(edgePage, { subject: "", ...letter });
      await sendLetter(edgePage);
      await expect.poll(() => faultsIn(edgePage, "main form")).toEqual(faults);
      expect(await edgePage.evaluate('document.activeElement?.getAttribute("aria-invalid")')).toBe("true");
      expect(calls).toEqual([]);
      // Nothing is cut: what was typed is still there.
      if (letter.message !== undefined && letter.message !== spaces) {
        expect(await edgePage.getByLabel("Message").inputValue()).toBe(letter.message);
      }
    });
  });

  it("sends an address of 255 characters and a message of 5,000, and says how many are left near the end", async () => {
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

  it("goes from filling to sent, once, and on to another one", async () => {
    const email = newAddress();
    await open();
    await fillLetter(page, { email, subject: "On tiles", message: "They are <small> & many." });
    await page.getByLabel("Category").selectOption("bug");
    await sendLetter(page);
    const sent = page.getByRole("heading", { name: "Message sent" });
    await sent.waitFor();
    await page.getByText(`A confirmation is on its way to ${email}.`).waitFor();
    expect(await hasFocus(sent)).toBe(true);
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
    await page.getByRole("button", { name: "Send another message" }).click();
    expect(await page.getByLabel("Message").inputValue()).toBe("");
    expect(await page.getByLabel("Email").inputValue()).toBe(email);
    expect(await kept(page, "draft:visitor:contact")).toBeUndefined();
  });

  it("keeps what was typed over a reload, and knows the address of who is signed in", async () => {
    await open();
    await fillLetter(page, { email: "ada@example.com", subject: "Half", message: "Half a thou" });
    await page.getByLabel("Category").selectOption("feature");
    await page.reload();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Half a thou");
    expect(await page.getByLabel("Subject").inputValue()).toBe("Half");
    expect(await page.getByLabel("Category").inputValue()).toBe("feature");

    const visitor = await stage.person(false);
    const own = await deviceOf(stage, visitor);
    const ownPage = await own.newPage();
    await ownPage.goto(`${stage.url}/contact`);
    await expect.poll(() => ownPage.locator("[name=email]").inputValue()).toBe(visitor.email);
    await own.close();
  });

  it("takes over what a link brings, below what was typed before, and only once", async () => {
    await open("?category=bug&subject=Price&message=Where%20is%20it%3F&lang=en");
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Where is it?");
    expect(await page.getByLabel("Category").inputValue()).toBe("bug");
    expect(await page.getByLabel("Subject").inputValue()).toBe("Price");
    expect(new URL(page.url()).search).not.toMatch(/category|subject|message/);
    await page.goto(`${stage.url}/contact?category=nonsense&message=And%20this`);
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("Where is it?\n\nAnd this");
    expect(await page.getByLabel("Category").inputValue()).toBe("bug");
    await page.reload();
    await settle(page);
    expect(await page.getByLabel("Message").inputValue()).toBe("Where is it?\n\nAnd this");
  });

  it("keeps the text when the server refuses, and says why", async () => {
    const email = await exhaustedAddress();
    await open();
    await fillLetter(page, { email, message: "The sixth in an hour" });
    await sendLetter(page);
    await page.getByText(/Too many attempts/).waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe("The sixth in an hour");
    await page.reload();
    await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("The sixth in an hour");
  });

  it("answers a robot that fills the trap as anybody, and stores nothing", async () => {
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

describe("a form without a connection (acceptance 35)", () => {
  async function writeOffline(email: string): Promise<void> {
    await page.goto(`${stage.url}/contact`);
    await settle(page);
    await context.setOffline(true);
    await fillLetter(page, { email, message: "From a tunnel" });
    await sendLetter(page);
    await page.getByRole("heading", { name: "Waiting for a connection" }).waitFor();
  }

  it("is sent once when two tabs find it again, and the page says so", async () => {
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

  it("is sent at the next start when its tab was closed, and told of", async () => {
    const email = newAddress();
    await writeOffline(email);
    await page.close();
    await context.setOffline(false);
    page = await context.newPage();
    await page.goto(`${stage.url}/pricing`);
    await page.getByText("The message you wrote earlier has reached the team.").waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it("is one message when the answer to it was lost", async () => {
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
    await page.getByRole("heading", { name: "Message sent" }).waitFor({ timeout: 20_000 });
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it("is tried again while the server is away, though the browser believes in a connection", async () => {
    const email = newAddress();
    await page.goto(`${stage.url}/contact`);
    await settle(page);
    await stage.line.cut();
    try {
      await fillLetter(page, { email, message: "To a server asleep" });
      await sendLetter(page);
      await page.getByRole("heading", { name: "Waiting for a connection" }).waitFor();
      // The first attempt of the queue fails too.
      await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/contact"));
    } finally {
      await stage.line.mend();
    }
    await page.getByRole("heading", { name: "Message sent" }).waitFor({ timeout: 25_000 });
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  }, 60_000);

  it("comes back to its writer when the server refuses it: told of, in the form again, with the reason at its field", async () => {
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
    expect(await faultsIn(page, "main form")).toEqual(["Invalid email address"]);
    await expect.poll(() => kept(page, `form:${form.id}`)).toBeUndefined();
    expect(await kept(page, "draft:visitor:contact")).toMatchObject({ fields });
  });

  it("refused by the server itself is kept with its text", async () => {
    const email = newAddress();
    await writeOffline(email);
    const [id = ""] = await waitingForms(page);
    // Another message has gone under its key before.
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

describe("feedback (spec §2, §4, §5, §8)", () => {
  const dialog = () => page.getByRole("dialog", { name: "Give feedback" });
  const toasts = () => page.locator("[aria-live=polite] li");

  async function fillIn(values: { name?: string; email?: string; message?: string }): Promise<void> {
    const { name = "Ada", email = "ada@example.com", message = "Good tiles" } = values;
    await dialog().getByLabel("Name").fill(name);
    await dialog().getByLabel("Email").fill(email);
    await dialog().getByLabel("Feedback").fill(message);
    await dialog().getByRole("button", { name: "Send Feedback" }).click();
  }

  it.each(["/", "/pricing", "/ai-models"])("shows its card 10 s after load on %s, and not before", async (path) => {
    await page.clock.install();
    await page.goto(`${stage.url}${path}`);
    await settle(page);
    const elapsedMs = await page.evaluate(() => performance.now());
    await page.clock.fastForward(Math.max(0, 9_000 - elapsedMs));
    await settle(page);
    expect(await card(page).count()).toBe(0);
    await page.clock.fastForward(1_000);
    await card(page).waitFor();
  });

  it.each(["Close", "Don't show again"])("is dismissed for good by %s", async (name) => {
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name }).click();
    expect(await card(page).count()).toBe(0);
    await expect.poll(() => kept(page, "feedbackDismissed")).toBe(true);
    await page.reload();
    await settle(page);
    await page.clock.fastForward(20_000);
    await settle(page);
    expect(await card(page).count()).toBe(0);
  });

  it("stays after Cancel, with what was typed, and gives the focus back", async () => {
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await dialog().getByLabel("Feedback").fill("Half a tile");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Give Feedback");
    expect(await kept(page, "feedbackDismissed")).toBeUndefined();
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    expect(await dialog().getByLabel("Feedback").inputValue()).toBe("Half a tile");
  });

  const edges: [string, { name?: string; email?: string; message?: string }, string[]][] = [
    ["nothing", { name: "", email: "", message: "" }, ["Name is required", "Invalid email address", "Message is required"]],
    ["only spaces", { name: spaces, message: spaces }, ["Name is required", "Message is required"]],
    ["only direction marks", { name: marks, message: marks }, ["Name is required", "Message is required"]],
    ["only brackets", { name: "<>", message: "<>" }, ["Name is required", "Message is required"]],
    ["an address that is none", { email: "ada@example" }, ["Invalid email address"]],
    ["an address too long", { email: `${"e".repeat(244)}@example.com` }, ["Email must be less than 255 characters"]],
    [
      "one too many",
      { name: "n".repeat(101), message: "m".repeat(5_001) },
      ["Name must be less than 100 characters", "Message must be less than 5000 characters"],
    ],
    ["emoji at the edge, and an empty message", { name: "🧱".repeat(100), message: "" }, ["Message is required"]],
    ["a megabyte", { message: megabyte }, ["Message must be less than 5000 characters"]],
  ];

  it("says the first failure in a toast and each at its field, in the specification's words", async () => {
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    for (const [what, values, faults] of edges) {
      await fillIn(values);
      await expect.poll(() => faultsIn(page, "dialog[open]"), { message: what }).toEqual(faults);
      const toast = toasts().last();
      expect(await toast.textContent(), what).toBe(`Validation Error${faults[0]}`);
      expect(await toast.getAttribute("class")).toMatch(/danger/);
      await toast.getByRole("button", { name: "Close" }).click();
      await expect.poll(() => toasts().count()).toBe(0);
    }
    expect(await messagesFrom(stage, "ada@example.com")).toBe(0);
  }, 60_000);

  it("sends once, thanks, clears the form, closes the dialog and never asks again", async () => {
    const email = newAddress();
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    const [request] = await Promise.all([page.waitForRequest("**/api/functions/send-contact-email"), fillIn({ name: " Ada ", email })]);
    expect(request.postDataJSON()).toMatchObject({
      email,
      category: "feedback",
      subject: "General Feedback from Ada",
      message: "Good tiles",
    });
    await toasts().getByText("Feedback Sent!").waitFor();
    await toasts().getByText("Thank you for your feedback. We appreciate your input!").waitFor();
    await dialog().waitFor({ state: "hidden" });
    expect(await card(page).count()).toBe(0);
    await expect.poll(() => kept(page, "feedbackDismissed")).toBe(true);
    await expect.poll(() => kept(page, "draft:visitor:feedback")).toBeUndefined();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it("says that it failed, and keeps the text and the dialog", async () => {
    const email = await exhaustedAddress();
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await fillIn({ email, message: "One too many" });
    await toasts().getByText("Error", { exact: true }).waitFor();
    await toasts().getByText("Failed to send your feedback. Please try again later.").waitFor();
    expect(await dialog().getByLabel("Feedback").inputValue()).toBe("One too many");
    expect(await kept(page, "feedbackDismissed")).toBeUndefined();
  });

  it("waits for a connection and is sent once", async () => {
    const email = newAddress();
    await openWithCard(page, `${stage.url}/pricing`);
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await context.setOffline(true);
    await fillIn({ email });
    await toasts().getByText("Feedback kept").waitFor();
    await dialog().waitFor({ state: "hidden" });
    await context.setOffline(false);
    await toasts().getByText("Feedback Sent!").waitFor();
    await expect.poll(() => messagesFrom(stage, email)).toBe(1);
  });

  it("covers neither the banner nor the support button on the narrowest phone, and gives way to what has the focus", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await openWithCard(page, `${stage.url}/contact`);
    await banner(page).waitFor();
    const boxOf = async (part: ReturnType<typeof card>) => {
      const box = await part.boundingBox();
      if (!box) throw new Error("not on the page");
      return box;
    };
    const [own, bar, support] = [
      await boxOf(card(page)),
      await boxOf(banner(page)),
      await boxOf(page.getByRole("button", { name: "Support" })),
    ];
    expect(own.y + own.height).toBeLessThanOrEqual(bar.y);
    expect(support.y + support.height).toBeLessThanOrEqual(bar.y);
    expect(own.x + own.width).toBeLessThanOrEqual(support.x);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    await page.locator("[name=message]").evaluate((field) => {
      field.scrollIntoView({ block: "end" });
      field.focus({ preventScroll: true });
    });
    await card(page).waitFor({ state: "hidden" });
    await page.locator("[name=message]").blur();
    await card(page).waitFor({ state: "visible" });
  });
});

describe("the consent banner (spec §2 to §5)", () => {
  const act = (name: string) => banner(page).getByRole("button", { name, exact: true }).click();

  async function open(path = "/pricing"): Promise<void> {
    await page.goto(`${stage.url}${path}`);
    await banner(page).waitFor();
  }

  /** The stored choice without its time, which must be of this minute. */
  async function stored(): Promise<unknown> {
    const consent = (await kept(page, "userConsent")) as { timestamp: string } | undefined;
    if (!consent) return undefined;
    const { timestamp, ...choice } = consent;
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
    expect(Math.abs(Date.now() - Date.parse(timestamp))).toBeLessThan(60_000);
    return { ...choice, cookieConsent: await kept(page, "cookieConsent") };
  }

  async function expectClosedForGood(): Promise<void> {
    await banner(page).waitFor({ state: "detached" });
    await page.reload();
    await settle(page);
    expect(await banner(page).count()).toBe(0);
  }

  it("is no part of the page as it is served, and takes no focus when it comes", async () => {
    const html = await (await fetch(`${stage.url}/pricing`)).text();
    expect(html).toContain("<h1");
    expect(html).not.toContain("data-consent");
    await open();
    expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await page.getByRole("link", { name: "About" }).first().click();
    await page.waitForURL("**/about");
    expect(await banner(page).count()).toBe(1);
  });

  it("stays away from somebody who is signed in, and comes when they sign out", async () => {
    const visitor = await stage.person(false);
    const own = await deviceOf(stage, visitor);
    page = await own.newPage();
    await page.goto(`${stage.url}/pricing`);
    await page
      .getByRole("link", { name: /Your account/ })
      .first()
      .waitFor();
    await settle(page);
    expect(await banner(page).count()).toBe(0);
    await page.goto(`${stage.url}/profile`);
    await page.getByRole("button", { name: "Sign out" }).first().click();
    await banner(page).waitFor();
    await own.close();
  });

  it("accept all: all three, cookies accepted, closed", async () => {
    await open();
    await act("Accept all");
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies: true, cookieConsent: "accepted" });
    await expectClosedForGood();
  });

  it("decline: none, cookies declined, closed", async () => {
    await open();
    await act("Decline");
    await expect.poll(stored).toEqual({ tos: false, privacy: false, cookies: false, cookieConsent: "declined" });
    await expectClosedForGood();
  });

  it("decline all in the detailed view: the same; and back leads back", async () => {
    await open();
    await act("Manage preferences");
    await act("Back");
    await banner(page).getByRole("button", { name: "Accept all" }).waitFor();
    await act("Manage preferences");
    await banner(page).getByLabel("Cookies").check();
    await act("Decline all");
    await expect.poll(stored).toEqual({ tos: false, privacy: false, cookies: false, cookieConsent: "declined" });
    await expectClosedForGood();
  });

  it.each([true, false])("saves preferences once both required boxes are checked; cookies follow their own (%s)", async (cookies) => {
    await open();
    await act("Manage preferences");
    const save = banner(page).getByRole("button", { name: "Save preferences" });
    const boxes = banner(page).getByRole("checkbox");
    expect(await propertiesOf(boxes, "checked")).toEqual([false, false, false]);
    expect(await propertiesOf(boxes, "required")).toEqual([true, true, false]);
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").check();
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Cookies").setChecked(cookies);
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Privacy policy").check();
    expect(await save.isEnabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").uncheck();
    expect(await save.isDisabled()).toBe(true);
    await banner(page).getByLabel("Terms of service").check();
    expect(await stored()).toBeUndefined();
    await save.click();
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies, cookieConsent: cookies ? "accepted" : "declined" });
    await expectClosedForGood();
  });

  it("links to terms and privacy, and gives accepting and declining the same weight", async () => {
    await open();
    const links = banner(page).getByRole("link");
    expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")))).toEqual(["/terms", "/privacy"]);
    const lookOf = (name: string) =>
      banner(page)
        .getByRole("button", { name, exact: true })
        .evaluate((button) => {
          const { color, backgroundColor, borderColor, fontSize, fontWeight } =
            button.ownerDocument.defaultView?.getComputedStyle(button) ?? {};
          return [color, backgroundColor, borderColor, fontSize, fontWeight, button.getBoundingClientRect().height];
        });
    expect(await lookOf("Accept all")).toEqual(await lookOf("Decline"));
  });

  it("hides nothing that has the focus, and the page ends above it", async () => {
    await page.setViewportSize({ width: 390, height: 640 });
    await open("/contact");
    const hidden: string[] = [];
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const covered = await coveredFocus(page);
      if (covered) hidden.push(covered);
    }
    expect(hidden).toEqual([]);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const gap = await page.evaluate<number>(`
      document.querySelector("section[data-consent]").getBoundingClientRect().top - document.querySelector("footer ul").getBoundingClientRect().bottom
    `);
    expect(gap).toBeGreaterThanOrEqual(0);
  });

  it("opens again from the footer with what was chosen, takes the focus then and gives it back", async () => {
    await open();
    await act("Decline");
    await banner(page).waitFor({ state: "detached" });
    const opener = page.getByRole("button", { name: "Cookie preferences" });
    await opener.press("Enter");
    await banner(page).getByRole("button", { name: "Save preferences" }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement?.hasAttribute("data-consent")')).toBe(true);
    for (const label of ["Terms of service", "Privacy policy", "Cookies"]) await banner(page).getByLabel(label).check();
    await banner(page).getByRole("button", { name: "Save preferences" }).press("Enter");
    await expect.poll(stored).toEqual({ tos: true, privacy: true, cookies: true, cookieConsent: "accepted" });
    expect(await hasFocus(opener)).toBe(true);
    await opener.press("Enter");
    await banner(page).waitFor();
    expect(await propertiesOf(banner(page).getByRole("checkbox"), "checked")).toEqual([true, true, true]);
  });

  it("has no violation in either view, nor has the card, the dialog or the form, in either theme", async () => {
    await context.close();
    context = await deviceOf(stage, undefined, { reducedMotion: "reduce", bypassCSP: true, viewport: { width: 390, height: 844 } });
    await context.addInitScript({ path: createRequire(import.meta.url).resolve("axe-core/axe.min.js") });
    page = await context.newPage();
    const found: string[] = [];
    const scan = async (where: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const { violations } = await page.evaluate<AxeReport>("axe.run(document, { resultTypes: ['violations'] })");
        found.push(
          ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${where}, ${colorScheme}: ${id} at ${String(target)}`)),
        );
      }
    };
    await openWithCard(page, `${stage.url}/contact`);
    await banner(page).waitFor();
    await scan("banner, card and form");
    await act("Manage preferences");
    await scan("preferences");
    await act("Decline all");
    await sendLetter(page);
    await expect.poll(() => faultsIn(page, "main form")).toHaveLength(3);
    await scan("form with faults");
    await page.locator("main h1").click();
    await card(page).getByRole("button", { name: "Give Feedback" }).click();
    await page.getByRole("button", { name: "Send Feedback" }).click();
    await page.getByText("Validation Error").waitFor();
    await scan("dialog with faults and toast");
    expect(found).toEqual([]);
  });
});
