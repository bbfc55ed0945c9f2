/** Deleting one's account on the page, and restoring it at the sign-in page. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import authText from "#client/i18n/locales/en/auth.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import steps from "#client/i18n/locales/en/steps.json" with { type: "json" };
import { formatDate } from "#client/lib/format.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open, starter } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const { deletion } = text;
const deleteAt = "2026-03-24T12:00:00.000Z";
const deleteCall = "POST /api/account/deletion";
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();
const button = (name: string) => page.getByRole("button", { name, exact: true });
const field = () => page.getByLabel(deletion.typed.replace("{{email}}", account.email), { exact: true });

async function visit(): Promise<void> {
  api.answer("GET /api/account/exports", { latest: null });
  api.answer("GET /api/account/step-up", { ways: ["password"] });
  page = await open(site, "/profile/data", { member: true });
}

/** With `form`, first writes an entry into the browser's database as the form queue does. Returns the number of the person's entries. */
const entriesOf = (owner: string, form?: string) =>
  page.evaluate(
    ([id, name]) =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open("keyval-store");
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const store = database.transaction("keyval", "readwrite").objectStore("keyval");
          if (name) store.put({ owner: id, version: 99 }, name);
          const [keys, values] = [store.getAllKeys(), store.getAll()];
          values.onsuccess = () => {
            database.close();
            const own = keys.result.filter((key, index) => String(key).includes(id ?? "") || values.result[index]?.owner === id);
            resolve(own.length);
          };
        };
      }),
    [owner, form] as const,
  );

it("says what becomes of the plan and of exactly how many credits, before anything is asked", async () => {
  api.answer("POST /api/functions/reliable-subscription-check", starter);
  const wallet = { held: 0, available: 1_234, frozen: false, grants: [], serverTime: deleteAt };
  api.answer("GET /api/credits/wallet", { ...wallet, balance: 1_234 });
  await visit();
  await says(deletion.credits_other.replace("{{credits}}", "1,234"));
  await says(deletion.plan.replace("{{plan}}", "Starter").replace("{{date}}", formatDate(starter.subscription_end ?? "", "en")));
  api.reset();
  await visit();
  await says(deletion.goes);
  await expect.poll(() => page.getByText(/is not refunded|is lost|are lost/).count()).toBe(0);
});

it("deletes after the address was typed and the password shown, and ends at a goodbye that says until when", async () => {
  await visit();
  await button(deletion.begin).click();
  await expect.poll(() => field().evaluate((element) => element === document.activeElement)).toBe(true);
  await field().fill("somebody@example.com");
  await button(deletion.submit).click();
  await says(deletion.wrong);
  expect(api.calls(deleteCall)).toEqual([]);
  // What a newer version of the page has stored goes too.
  await expect.poll(() => entriesOf(account.id, "form:1")).toBeGreaterThan(1);
  api.refuse(deleteCall, 403, "step_up_required");
  await field().fill(account.email.toUpperCase());
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: text.stepUp.title });
  await dialog.getByRole("textbox").fill("a tessera 4 two");
  api.answer("POST /api/account/step-up", null);
  api.answer(deleteCall, { deleteAt });
  await dialog.getByRole("button", { name: text.stepUp.submit }).click();
  await page.getByRole("heading", { name: deletion.done.title }).waitFor();
  await says(deletion.done.text.replace("{{date}}", formatDate(deleteAt, "en")));
  expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  await expect.poll(() => entriesOf(account.id)).toBe(0);
});

it("says why it was refused, and changes nothing for those who change their mind", async () => {
  await visit();
  await button(deletion.begin).click();
  api.refuse(deleteCall, 409, "last_admin");
  await field().fill(account.email);
  await button(deletion.submit).click();
  await says(refusals.last_admin);
  await button(deletion.cancel).click();
  await button(deletion.begin).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("session"))).not.toBeNull();
});

it("asks whoever signs in whether they want the account back, and signs in only then", async () => {
  page = await open(site, "/auth");
  api.answer("POST /api/auth/sign-in", { status: "deletion_pending", token: "the token", deleteAt });
  await page.getByLabel(authText.email, { exact: true }).fill(account.email);
  await page.getByLabel(authText.password, { exact: true }).fill("a tessera 4 two");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: steps.restore.title }).waitFor();
  await says(steps.restore.lead.replace("{{date}}", formatDate(deleteAt, "en")));
  expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  api.refuse("POST /api/auth/restore", 401, "sign_in_expired");
  await button(steps.restore.submit).click();
  await page.getByRole("alert").waitFor();
  await button(steps.restore.leave).click();
  await page.getByRole("heading", { name: authText.signIn.title }).waitFor();
});
