/** Asking for another address on the profile, and the wait for its link, in every state. The whole way is in tests/e2e/email-change.test.ts. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import steps from "#client/i18n/locales/en/steps.json" with { type: "json" };
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

/** On the days on which its walk with the server (tests/e2e/email-change.test.ts) is not taken. */
const isToday = hasTurn("screensOfWaysIn", "email-change");

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const askCall = "POST /api/account/email";
const waiting = { ...account, newEmail: { email: "new@example.com", askedAt: account.createdAt, expiresAt: "2026-03-10T13:00:00.000Z" } };

const dialog = () => page.getByRole("dialog", { name: text.email.title, exact: true });
const field = () => dialog().getByRole("textbox", { name: text.email.label });
const button = (name: string) => page.getByRole("button", { name, exact: true });
const says = (words: string) => dialog().getByText(words, { exact: true }).waitFor();

async function openDialog(): Promise<void> {
  page = await open(site, "/profile", { member: true });
  await button(text.email.change).click();
  await field().waitFor();
}

async function ask(email: string): Promise<void> {
  await field().fill(email);
  await dialog().getByRole("button", { name: text.email.submit }).click();
}

it.runIf(isToday)("says at the field what is wrong with the address, and sends nothing then", async () => {
  await openDialog();
  await ask("new@");
  await says("Invalid email address");
  expect(await field().evaluate((element) => element === document.activeElement)).toBe(true);
  await ask(` ${account.email.toUpperCase()} `);
  await says(text.email.same);
  expect(api.calls(askCall)).toHaveLength(0);
  // Another tab has changed the address meanwhile, so it is the account's own.
  api.refuse(askCall, 422, "validation_failed", { fields: [{ field: "email", message: "It is yours" }] });
  await ask("new@example.com");
  await says(text.email.same);
  expect(await dialog().getByRole("alert").count()).toBe(0);
});

it.runIf(isToday)("shows why it was refused, and how long to wait", async () => {
  await openDialog();
  await ask("new@example.com");
  await dialog().getByRole("alert").waitFor();
  api.refuse(askCall, 429, "too_many_attempts", { retryAfterSeconds: 754 });
  await ask("new@example.com");
  await dialog().getByRole("button", { name: "Try again in 13 minutes" }).waitFor();
  expect(await dialog().getByRole("alert").ariaSnapshot()).toContain("Wait 13 minutes");
});

it.runIf(isToday)("asks for a factor first, and stays as it was when the person gives up there", async () => {
  api.answer("GET /api/account/step-up", { ways: ["password"] });
  await openDialog();
  api.refuse(askCall, 403, "step_up_required");
  await ask("new@example.com");
  const question = page.getByRole("dialog", { name: text.stepUp.title });
  await question.waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "hidden" });
  expect(await field().inputValue()).toBe("new@example.com");
});

it.runIf(isToday)("shows the address that waits, whose link can be sent again after a pause, and keeps the old one on demand", async () => {
  await openDialog();
  api.answer(askCall, { status: "check_email" });
  api.answer("GET /api/account", waiting);
  await ask(" new@example.com ");
  await page.getByText("new@example.com", { exact: true }).waitFor();
  expect(await dialog().count()).toBe(0);
  expect(api.calls(askCall).at(-1)?.body).toEqual({ email: "new@example.com" });
  await page.getByRole("button", { name: /^Send it again in \d+ seconds$/ }).waitFor();

  const cancel = button(text.email.cancel);
  await cancel.click();
  await page.getByRole("main").getByRole("alert").waitFor();
  api.answer("DELETE /api/account/email", null);
  api.answer("GET /api/account", account);
  await cancel.click();
  await expect.poll(() => page.getByText("new@example.com").count()).toBe(0);
});

it.runIf(isToday)("sends the link again, and says so", async () => {
  api.answer("GET /api/account", waiting);
  page = await open(site, "/profile", { member: true });
  await button(steps.checkEmail.resend).click();
  await page.getByRole("main").getByRole("alert").waitFor();
  api.answer("POST /api/account/email/resend", { status: "check_email" });
  await button(steps.checkEmail.resend).click();
  await page.getByText(steps.checkEmail.resent, { exact: true }).waitFor();
});
