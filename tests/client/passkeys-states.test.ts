/** The panel of passkeys in every state. tests/e2e/passkeys.test.ts has a browser make and use them. */
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import type { Passkey } from "#contract/auth/passkeys.ts";
import { Devices } from "#tests/support/devices.ts";
import { hasTurn } from "#tests/support/turns.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

/** On the days on which its walk with the server (tests/e2e/passkeys.test.ts) is not taken. */
const isToday = hasTurn("screensOfWaysIn", "passkeys");

let site: Site;
let page: Page;
const api = onStubbedSite((opened) => {
  // Browsers make passkeys for names, not for numbers.
  const address = opened.address.replace("127.0.0.1", "localhost");
  site = { ...opened, address, devices: new Devices(opened.browser, address) };
});
afterEach(() => site.devices.takeBack());

const listCall = "GET /api/account/passkeys";
const optionsCall = "POST /api/account/passkeys/options";
const addCall = "POST /api/account/passkeys";
const laptop: Passkey = {
  id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d4001",
  name: "Work laptop",
  credentialId: "bGFwdG9w",
  place: "device",
  createdAt: "2026-02-01T09:00:00.000Z",
  lastUsedAt: null,
};
const key: Passkey = {
  ...laptop,
  id: "0198a3a4-7c5e-7c3f-8a4e-0c5a6f1d4002",
  name: "Key ring",
  credentialId: "a2V5",
  place: "security_key",
};

const panel = () => page.getByRole("region", { name: text.passkeys.title, exact: true });
const rows = () => panel().getByRole("listitem");
const button = (name: string) => panel().getByRole("button", { name, exact: true });
const dialog = (name: string) => page.getByRole("dialog", { name, exact: true });
const toast = (words: string) => page.getByText(words, { exact: true }).waitFor();

async function visit(passkeys: Passkey[], { fresh = false } = {}): Promise<void> {
  api.answer(listCall, { passkeys });
  page = await open(site, "/profile/security", { member: true, fresh });
}

/** A device whose owner unlocks it when asked; otherwise nobody does. */
async function addDevice(isUserVerified: boolean): Promise<void> {
  const devices = await page.context().newCDPSession(page);
  await devices.send("WebAuthn.enable", { enableUI: false });
  const device = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true } as const;
  await devices.send("WebAuthn.addVirtualAuthenticator", { options: { ...device, isUserVerified } });
}

/** What the browser is asked to make. */
const options = {
  rp: { id: "localhost", name: "Tessera" },
  user: { id: "bWFyaWE", name: account.email, displayName: account.email },
  challenge: "Y2hhbGxlbmdl",
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  timeout: 300_000,
  excludeCredentials: [],
  authenticatorSelection: { residentKey: "required", userVerification: "required" },
  attestation: "none",
} as never;

it.runIf(isToday)("holds the place of the list while it is read, says when it could not be, and tries again", async () => {
  api.refuse(listCall, 503, "service_unavailable");
  const answer = api.hold(listCall);
  page = await open(site, "/profile/security", { member: true });
  await panel().getByRole("status").waitFor();
  answer();
  await panel().getByText(text.passkeys.loadFailed, { exact: true }).waitFor();
  await button(text.passkeys.add).waitFor();
  api.answer(listCall, { passkeys: [laptop] });
  await button(text.retry).click();
  await expect.poll(() => rows().count()).toBe(1);
});

it.runIf(isToday)("says that there is none, and lists several with where they are and when they were used", async () => {
  await visit([]);
  await panel().getByText(text.passkeys.empty, { exact: true }).waitFor();
  await visit([{ ...laptop, lastUsedAt: "2026-02-03T10:00:00.000Z" }, key]);
  await expect.poll(() => rows().count()).toBe(2);
  expect(await rows().nth(0).textContent()).toMatch(/^Work laptop.*Last used February 3, 2026/);
  expect(await rows().nth(1).textContent()).toContain(text.passkeys.unused);
  expect(await rows().nth(1).textContent()).toContain(text.passkeys.place.security_key);
});

it.runIf(isToday)("adds one and asks what to call it; without a name it keeps the one it has", async () => {
  await visit([], { fresh: true });
  await addDevice(true);
  api.answer(optionsCall, options);
  api.answer(addCall, laptop);
  api.answer(listCall, { passkeys: [laptop] });
  await button(text.passkeys.add).click();
  const naming = dialog(text.passkeys.nameTitle);
  await toast(text.passkeys.added);
  expect(await naming.getByRole("textbox").inputValue()).toBe("Work laptop");
  await naming.getByRole("textbox").fill("  ");
  await naming.getByRole("button", { name: text.passkeys.save }).click();
  await naming.getByText(text.passkeys.nameNeeded, { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => rows().count()).toBe(1);
  expect(api.calls(addCall)).toHaveLength(1);
  expect(api.calls(`PATCH /api/account/passkeys/${laptop.id}` as never)).toHaveLength(0);
});

it.runIf(isToday)("says that nothing was added when the device was not unlocked, and why the server refuses one", async () => {
  await visit([], { fresh: true });
  await addDevice(false);
  api.answer(optionsCall, options);
  await button(text.passkeys.add).click();
  await panel().getByText(text.passkeys.cancelled, { exact: true }).waitFor();
  expect(api.calls(addCall)).toHaveLength(0);
  api.refuse(optionsCall, 409, "too_many_passkeys");
  await button(text.passkeys.add).click();
  await panel().getByText(refusals.too_many_passkeys, { exact: true }).waitFor();
});

it.runIf(isToday)("gives one another name, and shows why that was refused", async () => {
  await visit([laptop, key]);
  await button(`${text.passkeys.rename} ${key.name}`).click();
  const naming = dialog(text.passkeys.nameTitle);
  await naming.getByRole("textbox").fill("Blue key");
  const save = naming.getByRole("button", { name: text.passkeys.save });
  await save.click();
  await naming.getByRole("alert").waitFor();
  api.answerAt("PATCH /api/account/passkeys/:id", key.id, { ...key, name: "Blue key" });
  api.answer(listCall, { passkeys: [laptop, { ...key, name: "Blue key" }] });
  await save.click();
  await rows().getByText("Blue key", { exact: true }).waitFor();
  expect(await naming.count()).toBe(0);
});

it.runIf(isToday)("removes one after a question; one that is gone already counts as removed", async () => {
  await visit([laptop, key]);
  const path = `DELETE /api/account/passkeys/${key.id}` as never;
  const open = button(`${text.passkeys.remove} ${key.name}`);
  await open.click();
  const question = dialog(text.passkeys.removeTitle);
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  expect(api.calls(path)).toHaveLength(0);
  await open.click();
  const confirm = question.getByRole("button", { name: text.passkeys.remove });
  await confirm.click();
  await question.getByRole("alert").waitFor();
  api.refuse(path, 404, "not_found");
  api.answer(listCall, { passkeys: [laptop] });
  await confirm.click();
  await toast(text.passkeys.removed.replace("{{name}}", key.name));
  await expect.poll(() => rows().count()).toBe(1);
  const heading = panel().getByRole("heading", { name: text.passkeys.title });
  await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
});

it.runIf(isToday)("offers none where the address is a number, and says why", async () => {
  api.answer(listCall, { passkeys: [] });
  const address = site.address.replace("localhost", "127.0.0.1");
  page = await open({ ...site, address }, "/profile/security", { member: true, fresh: true });
  await panel().getByText(text.passkeys.number, { exact: true }).waitFor();
  expect(await button(text.passkeys.add).count()).toBe(0);
});
