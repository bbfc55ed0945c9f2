/** What a person does on their first day, act by act: at every step nothing covers what they need, what they wrote stays, and there is a way on. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { plans } from "#domain/plans.ts";
import { databaseAddress } from "#server/commands/database-address.ts";
import { createDatabase, createPool } from "#server/db/database.ts";
import { openWallet } from "#server/features/credits/service.ts";
import { endHold, holdCredits } from "#tests/support/ledger-calls.ts";
import { advanceClock } from "#tests/support/visitor.ts";
import { keptConversations, waitForKept } from "./kept-support.ts";
import { hold, order } from "./support.ts";
import type { Walk } from "./walk-support.ts";

const small = "GPT-6 Luna";
const large = "GPT-6.1 Sol";
const monthly = plans.starter.monthlyCredits;
const usualPaceMs = 12;

/** Elsewhere, as on another device: spends credits so that so many are left. */
async function spendDownTo(left: number, { userId, now, dataDir }: { userId: string; now: Date; dataDir: string }): Promise<void> {
  const pool = createPool(await databaseAddress({ DATA_DIR: dataDir }), 1, "first day");
  const db = createDatabase(pool);
  const holdId = randomUUID();
  const wallNow = new Date();
  const walletId = await openWallet(db, userId, now);
  const { balance } = await db.selectFrom("wallets").select("balance").where("id", "=", walletId).executeTakeFirstOrThrow();
  const credits = Number(balance) - left;
  const deadline = new Date(wallNow.getTime() + 60_000);
  await holdCredits(db, { holdId, walletId, credits, kinds: ["plan"], now, deadline, wallNow });
  await endHold(db, holdId, credits, now, wallNow);
  await db.destroy();
}

async function signUp(walk: Walk): Promise<void> {
  const { page, words, step, product } = walk;
  await page.goto(product.url);
  const start = page
    .getByRole("main")
    .getByRole("link", { name: words.say("home:hero.action") })
    .first();
  await step("home", start);
  await walk.signUpBy(start);
}

async function pay({ page, words, step, product }: Walk): Promise<void> {
  const { say, credits } = words;
  const subscribe = page.getByRole("button", { name: say("plans:plan.subscribe", { plan: plans.starter.name }) });
  await step("pricing", subscribe);
  await subscribe.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox").check();
  const confirm = dialog.getByRole("button", { name: say("order:confirm") });
  await step("order", confirm);
  await confirm.click();
  await page.waitForURL(`${product.sandboxUrl}/**`);
  const payment = page.getByRole("button", { name: /pay|subscribe/i });
  await step("payment", payment);
  await payment.click();
  await page.getByRole("heading", { name: say("billing:return.paidTitle", { credits: credits(monthly) }) }).waitFor();
  const chat = page.getByRole("link", { name: say("billing:return.chat") });
  await step("paid", chat);
  await chat.click();
  await page.waitForURL("**/ai-models");
}

/** A question while its answer is on the way, then the answer. What was there before stays. */
async function isAnswered(walk: Walk, name: string, prompt: string, left: number): Promise<void> {
  const { page, words, step, send, product } = walk;
  const before = await walk.said();
  await hold({ product });
  await send(prompt, 1);
  await walk.saidAlso(before, prompt);
  await step(`${name}-asked`, page.getByRole("button", { name: words.say("chat:composer.stop"), exact: true }));
  await order({ product }, "/models/pace", { paceMs: usualPaceMs });
  await walk.receipt(1, left).first().waitFor();
  await walk.saidAlso(before, prompt);
  await step(`${name}-answered`, walk.prompt);
}

async function outOfCredits(walk: Walk, dataDir: string): Promise<void> {
  const { page, words, step, send } = walk;
  const { say, credits, date } = words;
  const check = await walk.check();
  await spendDownTo(3, { userId: await walk.userId(), now: new Date(check.server_time), dataDir });
  await page.getByRole("button", { name: say("chat:model.change", { name: small }) }).click();
  const tile = page.getByRole("dialog").getByRole("button", { name: large });
  await step("models", tile);
  await tile.click();
  const before = await walk.said();
  const wish = "A question for a large model";
  await send(wish, 5);
  const use = page.getByRole("button", { name: say("chat:pick.use", { name: small, credits: credits(1) }) });
  await use.waitFor();
  const refused = page.getByRole("alert").filter({ hasText: say("dialogs:refusal.creditsTitle") });
  await refused.getByText(say("dialogs:noCredits.text", { needed: credits(5), available: credits(3) })).waitFor();
  await refused.getByText(say("dialogs:noCredits.next", { date: date(check.next_credits_at ?? "") })).waitFor();
  // The prompt is in the composer again, and what was said before is still there.
  expect(await walk.prompt.inputValue()).toBe(wish);
  expect(await walk.said()).toEqual(before);
  const packs = page.getByRole("link", { name: say("chat:noCredits.packs") });
  await step("refused", use, packs, walk.prompt);
  await packs.click();
  await page.waitForURL("**/pricing#packs");
  await step("packs", page.locator("#packs").getByRole("button").first());
  await page.goBack();
  await expect.poll(() => walk.prompt.inputValue()).toBe(wish);
  await walk.saidAlso(before);
  await use.click();
  await walk.sendButton.click();
  await walk.receipt(1, 2).first().waitFor();
  await walk.saidAlso(before, wish);
  await step("paid-with-the-rest", walk.prompt);
}

async function offlineAndBack(walk: Walk): Promise<void> {
  const { page, words, step } = walk;
  const wish = "Written on the train";
  await waitForKept(page, `/ai-models?lang=${walk.language}`);
  await expect.poll(() => keptConversations(page)).toBe(1);
  const before = await walk.said();
  await page.context().setOffline(true);
  await page.reload();
  await walk.saidAlso(before);
  await walk.prompt.fill(wish);
  await page.getByText(words.say("chat:composer.offline")).waitFor();
  expect(await walk.sendButton.isEnabled()).toBe(false);
  await step("offline", walk.prompt);
  await page.reload();
  await expect.poll(() => walk.prompt.inputValue()).toBe(wish);
  await walk.saidAlso(before);

  await page.context().setOffline(false);
  await expect.poll(() => walk.sendButton.isEnabled()).toBe(true);
  // Nothing is sent without their word.
  expect(await walk.prompt.inputValue()).toBe(wish);
  expect((await walk.check()).credits).toBe(2);
  await step("online", walk.sendButton);
  await walk.sendButton.click();
  await walk.receipt(1, 1).first().waitFor();
  await walk.saidAlso(before, wish);
}

/** `dataDir` is the product's. */
export async function firstDay(walk: Walk, dataDir: string): Promise<void> {
  const { page, words } = walk;
  await signUp(walk);

  // A second page of the same person shows the profile: the subscription must appear there without a reload.
  const profile = await walk.secondPage("/profile");
  const none = words.say("billing:subscription.none");
  await profile.getByText(none).waitFor();
  await page.bringToFront();
  await walk.watchFor(none);
  await pay(walk);
  expect(await page.evaluate("window.seen")).toBe(false);
  await profile
    .getByText(words.say("common:plan.name", { plan: plans.starter.name }))
    .first()
    .waitFor();
  await profile.getByText(String(monthly)).first().waitFor();

  await walk.step("start", walk.prompt);
  await page.getByRole("button", { name: small }).first().click();
  await isAnswered(walk, "first", "What is a tessera, in two sentences?", monthly - 1);
  await isAnswered(walk, "second", "And how does one lay a mosaic on a wall that is damp?", monthly - 2);
  await outOfCredits(walk, dataDir);
  await offlineAndBack(walk);

  await advanceClock(walk.product.sandboxUrl, "P1MT2H");
  await profile.bringToFront();
  await profile
    .getByText(new RegExp(`^${monthly}\\b`))
    .first()
    .waitFor();
  expect(await walk.check()).toMatchObject({ subscribed: true, credits: monthly });
}
