/** The page of notifications, and the page on which the link of a mail ends its kind: what they show, and what they say when a call fails. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import problems from "#client/i18n/locales/en/errors.json" with { type: "json" };
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const readCall = "GET /api/account/notifications";
const changeCall = "PATCH /api/account/notifications";
const leaveCall = "POST /api/notifications/unsubscribe";
const contact = (wanted: boolean) => ({ mails: [{ kind: "contact", wanted }] });
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();
const button = (name: string) => page.getByRole("button", { name, exact: true });
const choice = () => page.getByRole("checkbox", { name: text.notifications.kinds.contact.title });

async function visit(wanted = true): Promise<void> {
  api.answer(readCall, contact(wanted));
  page = await open(site, "/profile/notifications", { member: true });
}

it("shows what can be switched off and what is always sent, which has no switch", async () => {
  await visit(false);
  expect(await choice().isChecked()).toBe(false);
  await says(text.notifications.fixedLead);
  for (const fixed of Object.values(text.notifications.fixed)) await says(fixed.text);
  expect(await page.getByRole("checkbox").count()).toBe(1);
});

it("keeps a change at once, sends it once, and says if it could not be kept", async () => {
  await visit();
  const release = api.hold(changeCall);
  api.answer(changeCall, contact(false));
  await choice().click();
  // Playwright would wait until it can be used again.
  await choice().click({ force: true });
  expect(await choice().isChecked()).toBe(false);
  release();
  await expect.poll(() => choice().getAttribute("aria-disabled")).toBe("false");
  expect(api.calls(changeCall).map(({ body }) => body)).toEqual([{ kind: "contact", wanted: false }]);
  expect(await choice().isChecked()).toBe(false);
  api.refuse(changeCall, 503, "service_unavailable");
  await choice().click();
  await says(problems.service_unavailable);
  expect(await choice().isChecked()).toBe(false);
});

it("says if the choices could not be read, and reads them again", async () => {
  api.refuse(readCall, 503, "service_unavailable");
  page = await open(site, "/profile/notifications", { member: true });
  await says(text.notifications.loadFailed);
  api.answer(readCall, contact(true));
  await button(text.retry).click();
  await choice().waitFor();
});

it("switches a mail's kind off for whoever has its link, without a sign-in and not before a click", async () => {
  page = await open(site, "/profile/notifications?unsubscribe=a.contact.b");
  await says(text.unsubscribe.text);
  expect(api.calls(leaveCall)).toEqual([]);
  api.answer(leaveCall, { kind: "contact" });
  await button(text.unsubscribe.submit).click();
  await page.getByRole("heading", { level: 1, name: text.unsubscribe.done }).waitFor();
  await says(text.notifications.kinds.contact.title);
  const [call] = api.calls(leaveCall);
  expect([call?.query, call?.headers.authorization]).toEqual([{ token: "a.contact.b" }, undefined]);
});

it("says that a link is not valid, and leads to the page where one chooses", async () => {
  page = await open(site, "/profile/notifications?unsubscribe=x");
  api.refuse(leaveCall, 400, "link_invalid");
  await button(text.unsubscribe.submit).click();
  await says(text.unsubscribe.invalid);
  await page.getByRole("link", { name: text.unsubscribe.settings }).click();
  await says(text.signedOutTitle);
});
