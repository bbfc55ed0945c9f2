/** Name and picture on the profile: changing them, what it says when something is refused, and that the bar follows. */
import type { Page } from "playwright-core";
import sharp from "sharp";
import { beforeAll, expect, it } from "vitest";
import text from "#client/i18n/locales/en/account.json" with { type: "json" };
import refusals from "#client/i18n/locales/en/refusals.json" with { type: "json" };
import type { Session } from "#contract/auth/sign-in.ts";
import { avatarBytes } from "#server/domain/avatars.ts";
import type { Site } from "./frame-support.ts";
import { account, onStubbedSite, open } from "./states-support.ts";

const change = "PATCH /api/account";
const put = "PUT /api/account/avatar";
const picture = "/icons/icon-192.png";
let site: Site;
let page: Page;
let wide: Buffer;
const api = onStubbedSite((opened) => {
  site = opened;
});
beforeAll(async () => {
  wide = await sharp({ create: { width: 900, height: 300, channels: 3, background: "#a04020" } })
    .png()
    .toBuffer();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const bar = () => page.getByRole("banner");
const dialogs = () => page.getByRole("dialog").count();
const alert = () => page.getByRole("dialog").getByRole("alert").textContent();

/** What the next refresh answers: the account after the change. */
function become(metadata: Session["user"]["user_metadata"]): void {
  const user = { id: account.id, email: account.email, user_metadata: metadata };
  const tokens = { access_token: "next", refresh_token: "next", expires_at: 4_102_444_800, expires_in: 600, token_type: "bearer" as const };
  api.answer("POST /api/auth/refresh", { ...tokens, user });
}

async function choose(content: Buffer, name = "picture.png", mimeType = "image/png"): Promise<void> {
  await page.locator("input[type=file]").setInputFiles({ name, mimeType, buffer: content });
}

async function openPictures(avatar?: string): Promise<void> {
  page = await open(site, "/profile", { member: true, ...(avatar && { avatar }) });
  await button(avatar ? text.picture.change : text.picture.add).click();
}

it("gives the account a name, shows it at once in the bar too, and takes it away", async () => {
  page = await open(site, "/profile", { member: true });
  await button(text.name.add).click();
  const field = page.getByRole("textbox", { name: text.name.label });
  await field.fill("x".repeat(101));
  await button(text.name.save).click();
  await page.getByText(text.name.long.replace("{{max}}", "100")).waitFor();
  expect(api.calls(change)).toHaveLength(0);

  api.answer(change, account);
  become({ avatar_url: null, name: "Ada Lovelace" });
  await field.fill("  Ada   Lovelace ");
  await button(text.name.save).click();
  await button(text.name.change).waitFor();
  expect(api.calls(change).map(({ body }) => body)).toEqual([{ name: "Ada Lovelace" }]);
  await page.getByRole("main").getByText("Ada Lovelace", { exact: true }).waitFor();
  await bar().getByTitle("Ada Lovelace").waitFor();

  become({ avatar_url: null });
  await button(text.name.change).click();
  await field.fill("");
  await button(text.name.save).click();
  await button(text.name.add).waitFor();
  expect(api.calls(change).at(-1)?.body).toEqual({ name: null });
});

it("uploads the square that was chosen by keyboard, and shows the picture at once in the bar too", async () => {
  await openPictures();
  await choose(wide);
  const across = page.getByRole("slider", { name: text.picture.across });
  expect(await across.inputValue()).toBe("300");
  expect(await page.getByRole("slider", { name: text.picture.down }).isDisabled()).toBe(true);
  await across.press("End");
  api.answer(put, account);
  become({ avatar_url: picture });
  const free = api.hold(put);
  await button(text.picture.upload).click();
  await button(text.picture.uploading).waitFor();
  free();
  await bar().locator(`img[src="${picture}"]`).waitFor();
  await expect.poll(dialogs).toBe(0);
  const [call] = api.calls(put);
  expect(call?.query).toEqual({ left: "600", top: "0", side: "300" });
  expect(call?.body).toEqual(wide);
});

it("keeps the square within the picture when it is moved far beyond it", async () => {
  await openPictures();
  await choose(wide);
  const preview = page.getByRole("img", { name: text.picture.preview });
  await page.getByRole("slider", { name: text.picture.zoom }).press("End");
  const box = await preview.locator("..").boundingBox();
  if (!box) throw new Error("no preview");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 3_000, box.y + 3_000, { steps: 20 });
  await page.mouse.up();
  api.answer(put, account);
  become({ avatar_url: picture });
  await button(text.picture.upload).click();
  await expect.poll(dialogs).toBe(0);
  expect(api.calls(put)[0]?.query).toEqual({ left: "0", top: "0", side: "75" });
});

it("says why a picture is refused, and lets another one be chosen", async () => {
  await openPictures();
  await choose(Buffer.from("words"), "words.png");
  await expect.poll(alert).toBe(refusals.picture_unsupported);
  await choose(Buffer.alloc(avatarBytes + 1));
  await expect.poll(alert).toBe(refusals.picture_too_large);
  expect(api.calls(put)).toHaveLength(0);
  await choose(wide);
  for (const [status, code] of [
    [413, "picture_too_large"],
    [415, "picture_unsupported"],
    [422, "picture_damaged"],
  ] as const) {
    api.refuse(put, status, code);
    await button(text.picture.upload).click();
    await expect.poll(alert).toBe(refusals[code]);
  }
  await button(text.picture.another).waitFor();
});

it("takes the picture away: the letters are back", async () => {
  await openPictures(picture);
  api.answer("DELETE /api/account/avatar", account);
  become({ avatar_url: null });
  await button(text.picture.remove).click();
  await button(text.picture.add).waitFor();
  await bar().getByText("MA", { exact: true }).waitFor();
});

it("copies the user ID", async () => {
  page = await open(site, "/profile", { member: true, permissions: ["clipboard-read", "clipboard-write"] });
  await button(text.copyId.idle).click();
  await button(text.copyId.copied).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(account.id);
});

it("sends the language a signed-in person chooses, for their mails; a visitor's stays on the device", async () => {
  api.answer(change, account);
  page = await open(site, "/profile", { member: true });
  const choice = () => page.getByRole("main").getByRole("combobox");
  await choice().selectOption("de");
  await page.locator("html[lang=de]").waitFor();
  await expect.poll(() => api.calls(change).map(({ body }) => body)).toEqual([{ language: "de" }]);
  page = await open(site, "/contact");
  await page.getByRole("banner").getByRole("combobox").selectOption("fr");
  await page.locator("html[lang=fr]").waitFor();
  expect(api.calls(change)).toHaveLength(1);
});
