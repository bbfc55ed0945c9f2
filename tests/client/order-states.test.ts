/** The order: what it says before the payment page, and that nothing is ordered without consent. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import texts from "#client/i18n/locales/en/order.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import { consentTo } from "#tests/support/consent.ts";
import type { Site } from "./frame-support.ts";
import { agree, orderOf } from "./order-support.ts";
import { onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const previewCall = "POST /api/billing/order/preview";
const planCall = "POST /api/functions/create-checkout";
const packCall = "POST /api/billing/packs/checkout";
const dialog = () => page.getByRole("dialog", { name: texts.title });
const order = () => dialog().getByRole("button", { name: texts.confirm, exact: true });
const text = async () => (await dialog().textContent()) ?? "";

async function want(button: string | RegExp): Promise<void> {
  await page.getByRole("button", { name: button }).click();
  await dialog().getByRole("checkbox").waitFor();
}

it("says what is ordered, its price now and later, how it renews and ends, and leads to the terms; the box is not ticked", async () => {
  api.answer(previewCall, orderOf("starter_month", 20));
  page = await open(site, "/pricing", { member: true });
  await want("Subscribe to Starter");
  for (const part of ["Starter", "300 credits", "$15.99", "$19.99", "April 10, 2026", texts.total, "within 14 days", texts.firstOnly.month])
    expect(await text()).toContain(part);
  const terms = dialog().getByRole("link", { name: "terms of service" });
  expect([await terms.getAttribute("href"), await terms.getAttribute("target")]).toEqual(["/terms", "_blank"]);
  expect(await dialog().getByRole("checkbox").isChecked()).toBe(false);
  expect(await order().textContent()).toBe("Order with obligation to pay");
  expect(api.calls(previewCall).map(({ body }) => body)).toEqual([{ priceId: "starter_month" }]);
});

it("says that tax is in the price, and at which rate once that is known", async () => {
  api.answer(previewCall, { ...orderOf("starter_month"), tax: { percent: null } });
  page = await open(site, "/pricing", { member: true });
  await want("Subscribe to Starter");
  await dialog().getByText(texts.taxed, { exact: true }).waitFor();
  await dialog().getByText(texts.business).waitFor();
  await page.keyboard.press("Escape");
  api.answer(previewCall, { ...orderOf("starter_month"), tax: { percent: 25.5 } });
  await want("Subscribe to Starter");
  await dialog().getByText("It includes 25.5% VAT.").waitFor();
});

it("of another plan than the one on hold leads to the account, where that is paid or ended", async () => {
  api.refuse(previewCall, 409, "plan_suspended");
  page = await open(site, "/pricing", { member: true });
  await page.getByRole("button", { name: "Subscribe to Starter" }).click();
  await dialog().getByText(refusals.plan_suspended).waitFor();
  const links = dialog().getByRole("link");
  expect([await links.count(), await links.first().getAttribute("href")]).toEqual([1, "/profile"]);
});

it("without the consent says what is missing, at the box and in view, and orders nothing", async () => {
  api.answer(previewCall, orderOf("starter_month"));
  page = await open(site, "/pricing", { member: true, viewport: { width: 390, height: 844 } });
  await want("Subscribe to Starter");
  await order().click();
  const box = dialog().getByRole("checkbox");
  await dialog().getByRole("alert").filter({ hasText: texts.missing }).waitFor();
  expect(await box.getAttribute("aria-invalid")).toBe("true");
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  const note = dialog().getByText(texts.missing);
  const bottom = async () => ((await note.boundingBox())?.y ?? 0) + ((await note.boundingBox())?.height ?? 0);
  await expect.poll(bottom).toBeLessThanOrEqual((await order().boundingBox())?.y ?? 0);
  await box.check();
  await expect.poll(() => dialog().getByText(texts.missing).count()).toBe(0);
  expect(api.calls(planCall)).toEqual([]);
});

it("of a pack names its price and its end, and is sent with the consent once however often the button is clicked", async () => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  api.answer(previewCall, orderOf("pack_250"));
  api.answer(packCall, { url: `${site.address}/terms` });
  const release = api.hold(packCall);
  page = await open(site, "/pricing", { member: true });
  await want(/^Buy 250 credits/);
  for (const part of ["250 credits", "$17.99", "April 10, 2026", texts.once]) expect(await text()).toContain(part);
  await agree(page);
  for (let click = 0; click < 2; click += 1) await dialog().getByRole("button", { name: texts.confirming }).click({ force: true });
  release();
  await page.waitForURL("**/terms");
  expect(api.calls(packCall).map(({ body }) => body)).toEqual([{ pack: "pack_250", consent: consentTo("pack_250") }]);
});

it("that would cost something else by now is shown again, to be agreed to again", async () => {
  api.answer(previewCall, orderOf("starter_month", 20));
  page = await open(site, "/pricing", { member: true });
  await want("Subscribe to Starter");
  api.answer(previewCall, orderOf("starter_month"));
  api.refuse(planCall, 409, "preview_outdated");
  await agree(page);
  await dialog().getByText(refusals.preview_outdated, { exact: true }).waitFor();
  await expect.poll(text).not.toContain("$15.99");
  expect(await dialog().getByRole("checkbox").isChecked()).toBe(false);
});

it("that can't be made says why", async () => {
  api.refuse(previewCall, 409, "already_subscribed");
  page = await open(site, "/pricing", { member: true });
  await page.getByRole("button", { name: "Subscribe to Starter" }).click();
  await dialog().getByText(texts.failed).waitFor();
  expect(await order().count()).toBe(0);
  await dialog().getByRole("button", { name: "Not now" }).click();
  await dialog().waitFor({ state: "hidden" });
});
