/** The page of one's own data: every state of an export, and what it says when something fails. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import { formatDateTime } from "#client/lib/format.ts";
import type { DataExport } from "#contract/own-data.ts";
import type { Site } from "./frame-support.ts";
import { onStubbedSite, open } from "./states-support.ts";

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  site = opened;
});

const ready: DataExport = {
  id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d2e3b",
  status: "ready",
  askedAt: "2026-03-10T11:00:00.000Z",
  expiresAt: "2026-03-11T11:00:00.000Z",
  bytes: 1_400_000,
};
const exportsCall = "GET /api/account/exports";
const askCall = "POST /api/account/exports";
const says = (words: string) => page.getByText(words, { exact: true }).waitFor();
const button = (name: string) => page.getByRole("button", { name, exact: true });

async function visit(latest: DataExport | null): Promise<void> {
  api.answer("GET /api/account/step-up", { ways: ["password", "code"] });
  api.answer(exportsCall, { latest });
  page = await open(site, "/profile/data", { member: true });
}

it("offers a copy to a person who has none, and shows that it is being made once the password was shown", async () => {
  await visit(null);
  api.refuse(askCall, 403, "step_up_required");
  await button(text.export.ask).click();
  const dialog = page.getByRole("dialog", { name: text.stepUp.title });
  await dialog.getByRole("textbox").fill("a tessera 4 two");
  api.answer("POST /api/account/step-up", null);
  api.answer(askCall, { latest: { ...ready, status: "making", expiresAt: null, bytes: null } });
  await dialog.getByRole("button", { name: text.stepUp.submit }).click();
  await says(text.export.making);
  expect(await button(text.export.ask).count()).toBe(0);
});

it("asks for a code instead, if the person chooses so and has a second factor, and says what is wrong with it", async () => {
  await visit(null);
  api.refuse("GET /api/account/step-up", 503, "service_unavailable");
  api.refuse(askCall, 403, "step_up_required");
  await button(text.export.ask).click();
  const dialog = page.getByRole("dialog", { name: text.stepUp.title });
  await dialog.getByText(text.stepUp.failed).waitFor();
  api.answer("GET /api/account/step-up", { ways: ["password", "code"] });
  await dialog.getByRole("button", { name: text.retry }).click();
  await dialog.getByLabel("Password", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: text.stepUp.ways.code.use }).click();
  const code = dialog.getByLabel("Code", { exact: true });
  await expect.poll(() => code.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await dialog.getByText("Enter the code").waitFor();
  api.refuse("POST /api/account/step-up", 403, "wrong_code");
  await code.fill("123456");
  await page.keyboard.press("Enter");
  await dialog.getByText("This code is wrong or was used before.").waitFor();
  api.answer("POST /api/account/step-up", null);
  api.answer(askCall, { latest: { ...ready, status: "making", expiresAt: null, bytes: null } });
  await page.keyboard.press("Enter");
  await says(text.export.making);
  expect(api.calls("POST /api/account/step-up").map(({ body }) => body)).toEqual([{ code: "123456" }, { code: "123456" }]);
});

it("changes nothing when the person gives up at the password", async () => {
  await visit(null);
  api.refuse(askCall, 403, "step_up_required");
  await button(text.export.ask).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await button(text.export.ask).waitFor();
  expect(api.calls(askCall)).toHaveLength(1);
});

it("shows the copy as soon as it is made, with its size and until when it is there", async () => {
  await visit({ ...ready, status: "making", expiresAt: null, bytes: null });
  await says(text.export.making);
  api.answer(exportsCall, { latest: ready });
  await says(text.export.ready.replace("{{until}}", formatDateTime(ready.expiresAt ?? "", "en")));
  await button("Download (1.4 MB)").waitFor();
});

it("saves the file under a name of its own", async () => {
  await visit(ready);
  api.answer(`GET /api/account/exports/${ready.id}/file` as never, "the file" as never);
  const [download] = await Promise.all([page.waitForEvent("download"), button("Download (1.4 MB)").click()]);
  expect(download.suggestedFilename()).toBe("tessera-data.zip");
});

it("says that the copy is gone when its time ends on the open page", async () => {
  await visit(ready);
  api.refuse(`GET /api/account/exports/${ready.id}/file` as never, 410, "export_gone");
  api.answer(exportsCall, { latest: { ...ready, status: "expired" } });
  await button("Download (1.4 MB)").click();
  await says(text.export.expired);
  await button(text.export.again).waitFor();
});

it("says that a try failed, that there were enough today, and that it could not look", async () => {
  await visit({ ...ready, status: "failed", expiresAt: null, bytes: null });
  await says(text.export.failed);
  await visit({ ...ready, status: "expired" });
  api.refuse(askCall, 429, "rate_limited", { retryAfterSeconds: 3_600 });
  await button(text.export.again).click();
  await page.getByRole("alert").getByText("Wait 60 minutes").first().waitFor();
  api.refuse(exportsCall, 503, "service_unavailable");
  page = await open(site, "/profile/data", { member: true });
  await says(text.export.loadFailed);
  api.answer(exportsCall, { latest: null });
  await button(text.retry).click();
  await button(text.export.ask).waitFor();
});
