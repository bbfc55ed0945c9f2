/** Invoices and payments: what stands in the list, what can be opened of each invoice, and what it says when something fails. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/invoices.json" with { type: "json" };
import type { Invoice } from "#contract/billing/invoices.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const listCall = "GET /api/billing/invoices";
const linkCall = "POST /api/billing/invoices/:id/link";
const plan: Invoice = {
  id: "in_plan",
  number: "TESSERA-0001",
  issuedAt: "2026-02-10T11:00:00.000Z",
  subject: { kind: "plan", plan: "starter", interval: "month", from: "2026-02-10T11:00:00.000Z", until: "2026-03-10T11:00:00.000Z" },
  totalCents: 1999,
  refundedCents: 0,
  state: "paid",
  creditNotes: [],
  transferReference: null,
  tax: null,
  addressMissing: false,
};
const pack: Invoice = { ...plan, id: "in_pack", number: "TESSERA-0002", subject: { kind: "pack", credits: 250 }, totalCents: 1799 };
const row = (words: string) => page.getByRole("listitem").filter({ hasText: words });
const button = (name: string) => page.getByRole("button", { name, exact: true });

async function visit(invoices: Invoice[], nextCursor: string | null = null): Promise<void> {
  api.answer(listCall, { invoices, nextCursor, reading: false });
  page = await open(site, "/profile/billing", { member: true });
}

it("lists each invoice with its day, what it is for, its amount and its state", async () => {
  await visit([
    { ...pack, refundedCents: 799, tax: { cents: 287, percent: 19 } },
    { ...plan, addressMissing: true, state: "refunded", refundedCents: 1999 },
  ]);
  await row("Credit pack, 250 credits").getByText("$17.99").waitFor();
  await row("Credit pack").getByText("$7.99 refunded").waitFor();
  await row("Credit pack").getByText("Includes $2.87 VAT (19%)").waitFor();
  await row("Starter Plan").getByText(text.addressMissing).waitFor();
  await row("Credit pack").getByText(text.state.paid, { exact: true }).waitFor();
  await row("Starter Plan, one month").getByText("Feb 10 – Mar 10, 2026").waitFor();
  await row("Starter Plan").getByText(text.state.refunded, { exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Invoices and payments" }).getAttribute("aria-current")).toBe("page");
});

it("offers the PDF and the receipt of what is paid, the page to pay of what is not, and of a cancelled one the PDF alone", async () => {
  const states: [Invoice["state"], string[]][] = [
    ["paid", ["PDF", "Receipt"]],
    ["refunded", ["PDF", "Receipt"]],
    ["open", ["Pay", "PDF"]],
    ["failed", ["Pay", "PDF"]],
    ["processing", ["PDF"]],
    ["action", ["Confirm", "PDF"]],
    ["uncollectible", ["Pay", "PDF"]],
    ["void", ["PDF"]],
  ];
  await visit(states.map(([state]) => ({ ...plan, id: `in_${state}`, number: state.toUpperCase(), state })));
  for (const [state, names] of states) {
    const buttons = row(state.toUpperCase()).getByRole("button");
    await buttons.first().waitFor();
    expect(await buttons.allInnerTexts(), state).toEqual(names);
  }
});

it("asks for a link when it is followed, goes there, and says so meanwhile", async () => {
  await visit([{ ...plan, state: "failed" }]);
  const name = linkCall.replace(":id", "in_plan") as typeof linkCall;
  const release = api.hold(name);
  api.answer(name, { url: `${site.address}/about` });
  await button("Pay invoice TESSERA-0001").click();
  await page.getByText(text.redirecting).waitFor();
  release();
  await page.waitForURL("**/about");
  expect(api.calls(name)[0]?.body).toEqual({ document: "pay" });
});

it("says that the payment page could not be reached, and the list stays", async () => {
  await visit([plan]);
  const name = linkCall.replace(":id", "in_plan") as typeof linkCall;
  api.refuse(name, 502, "payment_provider_unavailable");
  await button("PDF of invoice TESSERA-0001").click();
  await row("Starter Plan").getByRole("alert").waitFor();
  await row("Starter Plan").getByText("$19.99").waitFor();
});

it("says that earlier invoices are being read", async () => {
  api.answer(listCall, { invoices: [], nextCursor: null, reading: true });
  page = await open(site, "/profile/billing", { member: true });
  await page.getByText(text.reading).waitFor();
  expect(await page.getByText(text.empty).count()).toBe(0);
});

it("says that there is none yet, or that the list could not be read and can be asked for again", async () => {
  await visit([]);
  await page.getByText(text.empty).waitFor();
  api.refuse(listCall, 503, "service_unavailable");
  page = await open(site, "/profile/billing", { member: true });
  await page.getByText(text.failed).waitFor();
  api.answer(listCall, { invoices: [plan], nextCursor: null, reading: false });
  await button("Try again").click();
  await row("Starter Plan").waitFor();
});

it("adds older invoices below, and keeps the place", async () => {
  await visit([pack], "further");
  await row("Credit pack").waitFor();
  api.answer(listCall, { invoices: [plan], nextCursor: null, reading: false });
  await button(text.older).click();
  await row("Starter Plan").waitFor();
  expect(await page.getByRole("listitem").filter({ hasText: "No." }).count()).toBe(2);
  expect(api.calls(listCall).at(-1)?.query).toEqual({ cursor: "further" });
  expect(await button(text.older).count()).toBe(0);
});
