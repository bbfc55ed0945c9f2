/** The admin panel in a browser: found by the team alone, and what an admin does for a person, on a desktop and on a phone. */
import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { hourMs } from "#domain/clock.ts";
import { plans } from "#domain/plans.ts";
import { themes, violationsOn } from "#tests/support/accessibility.ts";
import { consentTo } from "#tests/support/consent.ts";
import { daily } from "#tests/support/full.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import { button, clerk, confirm, on, openSection, viewports } from "./admin-support.ts";
import type { Stage } from "./support.ts";
import { deviceOf, pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

const timeoutMs = 120_000;
/** Offers the person whose page is open the Enterprise plan by bank transfer, which the person orders. */
async function orderByTransfer(page: Page, person: Visitor): Promise<void> {
  const title = "Offer a plan by transfer";
  await button(page, title).click();
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByLabel("Days until an invoice is due").fill("90");
  await dialog.getByText("From 1 to 60 days.").waitFor();
  await dialog.getByLabel("Days until an invoice is due").fill("14");
  await dialog.getByText("Whom the invoice is made out to").click();
  await dialog.getByLabel("Name", { exact: true }).fill("Example GmbH");
  await dialog.locator('button[type="submit"]').click();
  await dialog.getByText("Fill this in, or leave the whole address empty.").first().waitFor();
  for (const [label, text] of Object.entries({
    "Street and number": "Example Street 2",
    "Postal code": "10115",
    City: "Berlin",
    Country: "de",
  }))
    await dialog.getByLabel(label).fill(text);
  await confirm(page, title, "They asked for it by email");
  await page.getByText(`Offered. ${person.email} gets an email`).waitFor();
  await person.json("POST", "/api/billing/transfer-offer/order", { consent: consentTo("enterprise_month") });
}

/** Money of the visitor's that was transferred back, and then the bank took their transfer back. Returns what became of it. */
async function goneTwice({ session }: Visitor) {
  const now = new Date();
  const about = { billing_account_id: await payerIdOf(stage.db, session?.user.id ?? ""), invoice_id: randomUUID(), amount_cents: 9_999 };
  const reference = randomUUID();
  const reversed = { reversed_at: now, reversal_reason: "The bank took it back" };
  const transfer = { ...about, ...reversed, reference, stripe_subscription_id: "sub_planted", currency: "usd", reason: "Bank statement" };
  await stage.db
    .insertInto("bank_transfers")
    .values({ ...transfer, recorded_at: now })
    .execute();
  const returned = { done_at: now, returned_reference: randomUUID(), return_reason: "Withdrawn from", claimed_at: now };
  await stage.db
    .insertInto("money_backs")
    .values({
      ...about,
      ...returned,
      kind: "withdrawal",
      charge_id: null,
      transfer_reference: reference,
      stripe_subscription_id: null,
      asked_at: now,
    })
    .execute();
  return stage.db.selectFrom("money_backs").select("reclaimed_reference").where("transfer_reference", "=", reference);
}

/** Puts a notice on every page while a colleague is doing the same, and takes it down. */
async function speakToEverybody(page: Page): Promise<void> {
  await openSection(page, "Settings");
  const entry = page.getByRole("listitem").filter({ hasText: "Notice on every page" });
  await entry.getByRole("button", { name: "Change" }).click();
  const dialog = page.getByRole("dialog", { name: "Change: Notice on every page" });
  const texts = { en: "Planned work tonight" };
  const theirs = { tone: "info", texts, until: new Date(Date.now() + hourMs).toISOString() };
  const settings = stage.db.selectFrom("settings").select("version").where("name", "=", "notice");
  const version = ((await settings.executeTakeFirst())?.version ?? 0) + 1;
  const row = { value: JSON.stringify(theirs), version, changed_at: new Date(), changed_by: null, reason: "A colleague was first" };
  const written =
    version === 1
      ? stage.db.insertInto("settings").values({ name: "notice", ...row })
      : stage.db.updateTable("settings").set(row).where("name", "=", "notice");
  await written.execute();
  await dialog.getByLabel("Text in English").fill("Payments are late today");
  await dialog.getByLabel("Reason").fill("Stripe has an incident");
  await dialog.locator('button[type="submit"]').click();
  await dialog.getByText("Somebody who has left has changed this meanwhile. Now: Planned work tonight").waitFor();
  expect(await dialog.getByLabel("Text in English").inputValue()).toBe("Payments are late today");
  await dialog.locator('button[type="submit"]').click();
  await dialog.waitFor({ state: "detached" });
  await entry.getByText("Stripe has an incident").waitFor();
  await page.getByRole("region", { name: "Notice of the team" }).getByText("Payments are late today").waitFor();
  await entry.getByRole("button", { name: "Take it down" }).click();
  await confirm(page, "Take it down: Notice on every page");
  await entry.getByText("Nothing is said").waitFor();
}

/** An event of Stripe's that no code acts on. */
async function discardAndPutBack(page: Page): Promise<void> {
  const id = `evt_${randomUUID()}`;
  const event = { id, type: "payout.paid", livemode: false, object_id: null, created_at: new Date(), payload: '{"about":"a payout"}' };
  await stage.db
    .insertInto("stripe_events")
    .values({ ...event, status: "set_aside", processed_at: new Date() })
    .execute();
  await page.goto(`${stage.url}/admin/work/events?event=${id}`);
  const open = async (act: string) => {
    await page.getByRole("button", { name: "payout.paid" }).click();
    const dialog = page.getByRole("dialog", { name: "payout.paid" });
    await dialog.getByText("a payout").waitFor();
    await dialog.getByRole("button", { name: act }).click();
  };
  await open("Discard");
  await page.getByText("Nothing acts on it any more").waitFor();
  await confirm(page, "Discard", "We pay nobody out");
  await page.getByRole("cell", { name: "Discarded" }).waitFor();
  await open("Put back");
  await confirm(page, "Put back", "It was the wrong one");
  // Its job finds again that no code acts on it.
  const status = stage.db.selectFrom("stripe_events").select("status").where("id", "=", id);
  await expect.poll(async () => (await status.executeTakeFirst())?.status).toBe("set_aside");
}

it.each(on("desktop"))(
  "on a %s an admin finds a person, gives credits and takes some back, offers a plan by transfer, records a bank transfer and that the bank took it back, bans and unbans, the log says why, and filters are in the address; a notice stands on every page",
  async (device) => {
    const [owner, person] = [await clerk(stage), await stage.person(false)];
    const page = await pageOf(stage, owner, { viewport: viewports[device] });
    await page.goto(`${stage.url}/admin/people`);
    await page.getByRole("searchbox").fill(person.email.slice(0, 20));
    await page.keyboard.press("Enter");
    const row = page.getByRole("link", { name: person.email });
    await row.waitFor();
    expect(new URL(page.url()).searchParams.get("search")).toBe(person.email.slice(0, 20));
    await row.click();
    await orderByTransfer(page, person);
    await page.reload();
    await button(page, "Record a bank transfer").waitFor();
    // Pretend that the factor was shown an hour ago: the act asks for it, and goes on.
    const proved = { proved_at: new Date(Date.now() - hourMs) };
    await stage.db
      .updateTable("auth_sessions")
      .set(proved)
      .where("user_id", "=", owner.session?.user.id ?? "")
      .execute();
    await button(page, "Give credits").click();
    const give = page.getByRole("dialog", { name: "Give credits" });
    await give.getByLabel("Credits").fill("120");
    await give.locator('button[type="submit"]').click();
    await give.getByText("Say in a few words why.").waitFor();
    await give.getByLabel("Reason").fill("The answer failed twice");
    await give.locator('button[type="submit"]').click();
    const stepUp = page.getByRole("dialog", { name: "Confirm that it is you" });
    await stepUp.getByLabel("Password", { exact: true }).fill(owner.password);
    await stepUp.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Adjustment of").waitFor();
    await button(page, "Take back").click();
    await page.getByRole("dialog", { name: "Take back" }).getByLabel("Credits").fill("20");
    await confirm(page, "Take back");
    await page.getByText("unspent: 100 credits").waitFor();
    await button(page, "Record a bank transfer").click();
    const transfer = page.getByRole("dialog", { name: "Record a bank transfer" });
    await transfer.getByText("Enterprise Plan, one month").waitFor({ state: "attached" });
    await transfer.getByLabel("Amount").fill("99");
    await transfer.getByText("The invoice is for $99.99.").waitFor();
    await transfer.locator('button[type="submit"]').click();
    await transfer.getByText("Enter the reference.").waitFor();
    await transfer.getByLabel("Amount").fill("99,99");
    await transfer.getByLabel("The bank’s reference").fill(`FT ${person.email}`.slice(0, 140));
    await confirm(page, "Record a bank transfer", "Statement of today");
    await button(page, "Record a bank transfer").waitFor({ state: "detached" });
    await person.waitForSubscription(plans.enterprise.monthlyCredits + 100);
    await page.reload();
    await page.getByRole("link", { name: "Invoices", exact: true }).click();
    await page.getByRole("cell", { name: "Enterprise, one month" }).waitFor();
    await button(page, "The bank took it back").click();
    await confirm(page, "The bank took it back", "Statement of the day after");
    await page.locator("summary", { hasText: "More" }).click();
    await button(page, "Ban").click();
    await confirm(page, "Ban", "Somebody else has the password");
    await button(page, "Lift the ban").click();
    await confirm(page, "Lift the ban");
    await page.getByRole("link", { name: "Credits", exact: true }).click();
    await page.getByText("The entries add up to 100. The balance is 100.").waitFor();
    await openSection(page, "Audit log");
    await page.getByRole("searchbox", { name: "Done to" }).fill(person.email);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("about")).toBe(person.email);
    await expect.poll(() => page.getByRole("row").filter({ hasNotText: person.email }).count()).toBeLessThan(2);
    await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(4);
    for (const reason of [
      "The answer failed twice",
      "Somebody else has the password",
      "Statement of today",
      "Statement of the day after",
      "They asked for it by email",
    ])
      await page.getByText(reason).waitFor();
    await page.getByRole("button", { name: "account.banned" }).press("ArrowDown");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Bank transfer taken back by the bank transfer.reversed");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Bank transfer taken back by the bank" }).getByText("Statement of the day after").waitFor();
    await page.keyboard.press("Escape");
    await page.goBack();
    await expect.poll(() => page.getByRole("searchbox", { name: "Done to" }).inputValue()).toBe("");
    await speakToEverybody(page);
  },
  timeoutMs,
);

it.each(on("phone"))(
  "on a %s an admin makes somebody support, discards a failed job and several at once, corrects the address of a mail, plans and ends a campaign, refunds a payment, has a person's data copied and sends mails again; support sees no money and can do nothing; for others there is no such page",
  async (device) => {
    const [owner, colleague] = [await clerk(stage), await stage.person(true)];
    const { width } = viewports[device];
    const page = await pageOf(stage, owner, { viewport: viewports[device] });
    await page.goto(`${stage.url}/admin/team`);
    await button(page, "Add somebody").click();
    await page.getByRole("dialog", { name: "Add somebody" }).getByLabel("Email").fill(colleague.email);
    await confirm(page, "Add somebody");
    await page.getByText(colleague.email).waitFor();
    const planted = `550 planted, ${device}`;
    const letter = { id: randomUUID(), job: "send-mail", payload: "{}", error: planted, attempts: 10, replayed_at: null };
    await stage.db.insertInto("dead_letters").values(letter).execute();
    const claims = await goneTwice(owner);
    await openSection(page, "What needs you");
    await page.getByText("Ask for $99.99: it went out twice").waitFor();
    await page.getByText(planted).waitFor();
    await button(page, "Record the payment").click();
    await page.getByRole("dialog", { name: "Record the payment" }).getByLabel("The bank’s reference").fill(`FT ${device}`);
    await confirm(page, "Record the payment", "They sent it again");
    await page.getByText("$99.99: it went out twice").waitFor({ state: "detached" });
    expect(await claims.executeTakeFirst()).toEqual({ reclaimed_reference: `FT ${device}` });
    await openSection(page, "Jobs and events");
    await page.getByRole("combobox", { name: "State" }).selectOption("waiting");
    await page.locator("tr", { hasText: planted }).getByRole("button", { name: "send-mail" }).click();
    await page.getByRole("dialog", { name: "Send an email" }).getByRole("button", { name: "Discard" }).click();
    await confirm(page, "Discard");
    await page.getByText(planted).waitFor({ state: "detached" });
    const row = stage.db.selectFrom("dead_letters").select("discarded").where("id", "=", letter.id);
    expect(await row.executeTakeFirst()).toEqual({ discarded: true });
    // It was the wrong one.
    await page.getByRole("combobox", { name: "State" }).selectOption("discarded");
    await page.locator("tr", { hasText: planted }).getByRole("button", { name: "send-mail" }).click();
    await page.getByRole("dialog", { name: "Send an email" }).getByRole("button", { name: "Do it again" }).click();
    await confirm(page, "Do it again", "It was the wrong one");
    await page.getByText(planted).waitFor({ state: "detached" });
    expect(await row.executeTakeFirst()).toEqual({ discarded: false });
    await page.getByRole("combobox", { name: "State" }).selectOption("waiting");
    const several = ["a", "b", "c"].map((name) => ({ ...letter, id: randomUUID(), job: "delete-file", error: `unlink ${name}` }));
    await stage.db.insertInto("dead_letters").values(several).execute();
    await page.getByRole("combobox", { name: "Job" }).selectOption({ label: "Delete a file" });
    const cardOf = (name: string) => page.locator("tr", { hasText: `unlink ${name}` });
    await cardOf("a").waitFor();
    await button(page, "Choose all that match").click();
    await page.getByText("3 chosen, up to 100 at once").waitFor();
    await cardOf("c").getByRole("checkbox").press("Space");
    await page.getByText("2 chosen").waitFor();
    // Meanwhile somebody else has discarded one.
    await stage.db
      .updateTable("dead_letters")
      .set({ replayed_at: new Date(), discarded: true })
      .where("id", "=", several[1]?.id ?? "")
      .execute();
    await button(page, "Discard").click();
    await confirm(page, "Discard", "The files are gone");
    const became = page.getByRole("dialog", { name: "What became of each" });
    await became.getByText("Done", { exact: true }).waitFor();
    await became.getByText("Refused: it was discarded before").waitFor();
    await became.getByRole("button", { name: "Close" }).last().click();
    await cardOf("a").waitFor({ state: "detached" });
    expect(await cardOf("c").count()).toBe(1);
    await stage.db
      .updateTable("dead_letters")
      .set({ replayed_at: new Date() })
      .where("id", "=", several[2]?.id ?? "")
      .execute();
    const answer = { key: randomUUID(), user_id: null, recipient: "tpyo@example.com", template: "contact-answer", language: "en" };
    const words = JSON.stringify({ topic: "Hi", message: "Here you are", reference: "R", receivedAt: new Date().toISOString() });
    const { id: mailId } = await stage.db
      .insertInto("mails")
      .values({ ...answer, parameters: words, created_at: new Date(), sent_at: null })
      .returning("id")
      .executeTakeFirstOrThrow();
    const bounced = { ...letter, id: randomUUID(), payload: JSON.stringify({ mailId }), error: "550 no such mailbox" };
    await stage.db.insertInto("dead_letters").values(bounced).execute();
    await page.getByRole("link", { name: "Emails that were not delivered" }).click();
    await button(page, answer.recipient).click();
    await page.getByRole("dialog", { name: answer.recipient }).getByRole("button", { name: "Send again" }).click();
    const right = `typo-${randomUUID()}@example.com`;
    await page.getByRole("dialog", { name: "Send again" }).getByLabel("To").fill(right);
    await confirm(page, "Send again", "They wrote the right address");
    const sent = stage.db.selectFrom("mails").select("sent_at").where("id", "=", mailId).where("recipient", "=", right);
    await expect.poll(async () => (await sent.executeTakeFirst())?.sent_at ?? null).not.toBeNull();
    await discardAndPutBack(page);
    await openSection(page, "People");
    await page.getByRole("heading", { name: "People" }).waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(width);
    await openSection(page, "Campaigns");
    await button(page, "Plan a campaign").click();
    const plan = page.getByRole("dialog", { name: "Plan a campaign" });
    const percent = device === "phone" ? 30 : 35;
    const name = `${percent}% off`;
    await plan.getByLabel("Discount in percent").fill(String(percent));
    await plan.getByLabel("Who").selectOption("left");
    await plan.getByLabel("Days since their plan ended, at least").fill("60");
    await plan.getByLabel("Enterprise").uncheck();
    await plan.getByLabel("Begins (UTC)").fill("2026-01-01T00:00");
    await plan.getByLabel("Ends (UTC)").fill("2099-01-01T00:00");
    await confirm(page, "Plan a campaign");
    await button(page, name).click();
    await page.getByText("Plans sold").waitFor();
    const campaign = page.getByRole("dialog", { name: name });
    await campaign.getByText("Left at least 60 days ago").waitFor();
    await campaign.getByText("Starter, Basic, and Professional").waitFor();
    await button(page, "End now").click();
    await confirm(page, "End now");
    await page.locator("tr", { hasText: name }).getByText("Over", { exact: true }).waitFor();
    if (device === "phone") {
      await page.getByRole("combobox", { name: "Sort by" }).selectOption({ label: "Discount in percent, ascending" });
      await expect.poll(() => new URL(page.url()).search).toBe("?sort=percent&order=asc");
    } else {
      await button(page, "Discount in percent").click();
      await expect.poll(() => new URL(page.url()).search).toBe("?sort=percent&order=desc");
    }
    await page.goto(`${stage.url}/admin/people/${colleague.session?.user.id}`);
    await button(page, "Refund").click();
    const refund = page.getByRole("dialog", { name: "Refund" });
    await refund.getByLabel("Amount").fill("900");
    await refund.getByText("Enter an amount of up to").waitFor();
    await refund.getByLabel("Amount").fill("5,5");
    await confirm(page, "Refund", "They were charged twice");
    await page.getByText("$5.50 refunded").waitFor();
    await page.locator("summary", { hasText: "More" }).click();
    await button(page, "Make a copy of their data").click();
    await confirm(page, "Make a copy of their data", "They asked by mail");
    await page.getByText("The copy is being made.").waitFor();
    await page.getByRole("link", { name: "Emails" }).click();
    const receipt = page.locator("tr", { hasText: "subscription-started" });
    await receipt.getByRole("button", { name: "Send again" }).click();
    await confirm(page, "Send again", "They deleted the mail");
    await expect.poll(() => receipt.count()).toBe(2);
    const mails = stage.db.selectFrom("mails").select("template").where("recipient", "in", [colleague.email, owner.email]);
    await expect.poll(async () => (await mails.where("template", "=", "export-ready").execute()).length).toBe(1);
    await page.goto(`${stage.url}/admin/people`);
    await button(page, "Resend a sign-up’s email").click();
    const again = page.getByRole("dialog", { name: "Resend a sign-up’s email" });
    const waiting = `waiting-${randomUUID()}@example.com`;
    await again.getByLabel("Email").fill(waiting);
    await again.getByLabel("Reason").fill("No email came");
    await again.locator('button[type="submit"]').click();
    await again.getByText("No sign-up of this address waits").waitFor();
    await fetch(`${stage.url}/api/auth/sign-up`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: waiting, password: colleague.password }),
    });
    await again.locator('button[type="submit"]').click();
    await page.getByText(`The email is on its way to ${waiting}.`).waitFor();

    const desk = await pageOf(stage, colleague);
    await desk.goto(`${stage.url}/admin/people/${colleague.session?.user.id}`);
    await desk.getByRole("heading", { name: colleague.email }).waitFor();
    await desk.getByText("Wallet", { exact: true }).waitFor();
    for (const hidden of ["Invoices", "Stripe customer"]) expect(await desk.getByText(hidden, { exact: true }).count()).toBe(0);
    expect(await button(desk, "Give credits").count()).toBe(0);

    const visitor = await pageOf(stage, await stage.person(false));
    const asked: string[] = [];
    visitor.on("request", (request) => asked.push(request.url()));
    await visitor.goto(`${stage.url}/admin/people`);
    await visitor.getByRole("heading", { name: "Page not found" }).waitFor();
    // Not even the panel's code.
    expect(asked.filter((url) => /admin-panel|people-section/.test(url))).toEqual([]);
  },
  timeoutMs,
);

it.each(on("desktop"))(
  "on a %s an admin switches a model off with a text for people and on again, and plans its price; tiles and drawn pages follow; who was second is told and keeps the text",
  async (device) => {
    const owner = await clerk(stage);
    const page = await pageOf(stage, owner, { viewport: viewports[device] });
    await page.goto(`${stage.url}/`);
    const heading = () => page.getByRole("heading", { level: 1 }).textContent();
    const before = await heading();
    const row = page.locator("tr", { hasText: "Grok 4.6" });
    // The address that leads there from what needs the team.
    const openRow = () => page.goto(`${stage.url}/admin/models?model=grok-4.6`);
    await openRow();
    await page.getByRole("dialog", { name: "Grok 4.6" }).getByRole("button", { name: "Switch off" }).click();
    const dialog = page.getByRole("dialog", { name: "Switch off: Grok 4.6" });
    await dialog.getByLabel("Text for people, in English").fill("Back on Monday");
    await dialog.getByLabel("Reason").fill("It answers nonsense");
    // Meanwhile another admin has used the switch.
    const known = stage.db.selectFrom("model_switches").select("version").where("model_id", "=", "grok-4.6");
    const version = ((await known.executeTakeFirst())?.version ?? 0) + 1;
    const meanwhile = { model_id: "grok-4.6", is_off: false, texts: "{}", version, changed_at: new Date() };
    await stage.db
      .insertInto("model_switches")
      .values(meanwhile)
      .onConflict((conflict) => conflict.column("model_id").doUpdateSet(meanwhile))
      .execute();
    await dialog.locator('button[type="submit"]').click();
    await dialog.getByText("Somebody else was faster").waitFor();
    expect(await dialog.getByLabel("Text for people, in English").inputValue()).toBe("Back on Monday");
    await dialog.locator('button[type="submit"]').click();
    await row.getByText("Switched off").waitFor();

    await page.goto(`${stage.url}/ai-models`);
    await page.getByText("Back on Monday").waitFor();
    // Drawn pages, once they are hydrated: what differs would be an error on the console.
    await page.goto(`${stage.url}/`);
    expect(Number.parseInt((await heading()) ?? "", 10)).toBe(Number.parseInt(before ?? "", 10) - 1);
    await page.getByRole("button", { name: "Subscribe to Starter" }).hover();
    for (const path of ["/pricing", "/content-creation"]) {
      await page.goto(`${stage.url}${path}`);
      await page.keyboard.press("Tab");
      expect(await page.getByText("Grok 4.6").count()).toBe(0);
    }

    await openRow();
    await page.getByRole("dialog", { name: "Grok 4.6" }).getByRole("button", { name: "Switch on" }).click();
    await confirm(page, "Switch on: Grok 4.6");
    await row.getByText("Offered", { exact: true }).waitFor();

    // A price is planned with a view of what it changes, is on the tile ahead, and is dropped again.
    await openRow();
    await button(page, "Plan a price").click();
    const plan = page.getByRole("dialog", { name: "Plan a price: Grok 4.6" });
    await plan.getByLabel("Credits for one unit").fill("1");
    await plan.getByText("Less would not cover").waitFor();
    await plan.getByLabel("Credits for one unit").fill("10");
    await plan.getByText("At the new price").waitFor();
    await plan.getByText("60 → 30 a month").waitFor();
    // Meanwhile another admin has planned one for the same day.
    const begins_on = await plan.getByLabel("Begins on (UTC)").inputValue();
    const planned = { model_id: "grok-4.6", begins_on, credits: 12, planned_at: new Date() };
    await stage.db.insertInto("model_prices").values(planned).execute();
    await plan.getByLabel("Reason").fill("The provider is dearer");
    await plan.locator('button[type="submit"]').click();
    await plan.getByText("Somebody has changed the planned prices meanwhile. Now: 12 credits").waitFor();
    expect(await plan.getByLabel("Credits for one unit").inputValue()).toBe("10");
    await stage.db.deleteFrom("model_prices").where("credits", "=", 12).execute();
    await confirm(page, "Plan a price: Grok 4.6");
    await page.goto(`${stage.url}/ai-models`);
    await page.getByText("10 credits per answer from").waitFor();
    await openRow();
    await page.getByRole("list", { name: "Prices" }).getByText("Planned").waitFor();
    await button(page, "Drop the price").click();
    await confirm(page, "Drop the price: Grok 4.6");
    await page.goto(`${stage.url}/`);
    expect(await heading()).toBe(before);
  },
  timeoutMs,
);

/** The panel's main screens; in `npm test` another one each day. */
const screens = [
  "overview",
  "needs",
  "inbox",
  "people",
  "models",
  "work",
  "work/sent",
  "work/events",
  "campaigns",
  "settings",
  "team",
  "audit",
];

it(
  "the panel's screens have no violation of accessibility, in light and dark, and none is wider than a phone",
  async () => {
    const owner = await clerk(stage);
    const context = await deviceOf(stage, owner, { viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    for (const screen of daily(screens)) {
      await page.goto(`${stage.url}/admin/${screen}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page
        .getByText(/^Reading /)
        .first()
        .waitFor({ state: "detached" });
      expect(await violationsOn(page, screen, { colorSchemes: themes })).toEqual([]);
      expect([screen, await page.evaluate<number>("document.documentElement.scrollWidth")]).toEqual([screen, 390]);
    }
  },
  timeoutMs,
);
