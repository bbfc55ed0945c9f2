/** Another address, from the profile to the mails: asked for in one browser, confirmed in another, taken back in a third. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import { hasTurn } from "#tests/support/turns.ts";
import { Visitor } from "#tests/support/visitor.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

const signedIn = (page: Page) => page.evaluate<string | undefined>("JSON.parse(localStorage.getItem('session') ?? '{}').user?.email");

/** The newest link of this kind that was mailed to the visitor's address, with the host that the browser uses. */
async function linkTo(visitor: Visitor, kind: "change" | "undo"): Promise<string> {
  const { pathname, search } = await visitor.mailedLink("/auth", kind);
  return stage.url + pathname + search;
}

it.runIf(hasTurn("waysIn", "email-change"))(
  "is confirmed elsewhere with the password and shown in every open tab, and its owner takes it back from the old address",
  async () => {
    const owner = await stage.person(false);
    // Nobody but the reader of the new address's mails.
    const next = new Visitor(stage.product.url, stage.product.sandboxUrl);
    const page = await pageOf(stage, owner);
    const other = await page.context().newPage();
    for (const tab of [page, other]) await tab.goto(`${stage.url}/profile`);
    await page.getByRole("button", { name: "Change email" }).click();
    const field = page.getByLabel("New email");
    await field.fill(` ${owner.email.toUpperCase()}`);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText("This is your address already").waitFor();
    await field.fill(next.email);
    await page.getByRole("button", { name: "Send the link" }).click();
    for (const tab of [page, other]) await tab.getByText(`Waiting for ${next.email} to be confirmed.`).waitFor();

    const elsewhere = await pageOf(stage);
    await elsewhere.goto(await linkTo(next, "change"));
    await elsewhere.getByRole("heading", { name: "Confirm your new address" }).waitFor();
    const use = elsewhere.getByRole("button", { name: "Use this address" });
    await elsewhere.getByLabel("Password", { exact: true }).fill("not the password 1");
    await use.click();
    await elsewhere.getByText("This is not the password of your account.").waitFor();
    await elsewhere.getByLabel("Password", { exact: true }).fill(owner.password);
    await use.click();
    await elsewhere.getByText(`Your account now uses ${next.email}.`).waitFor();
    expect(await signedIn(elsewhere)).toBeUndefined();
    for (const tab of [page, other]) {
      await tab.getByRole("main").getByText(next.email).waitFor();
      await expect.poll(() => tab.getByText("to be confirmed").count()).toBe(0);
    }
    await expect.poll(() => signedIn(page)).toBe(next.email);

    const rescue = await pageOf(stage);
    await rescue.goto(await linkTo(owner, "undo"));
    await rescue.getByRole("heading", { name: "It wasn’t you?" }).waitFor();
    await rescue.getByText(owner.email).waitFor();
    await rescue.getByRole("button", { name: "Undo the change" }).click();
    await rescue.getByLabel("New password", { exact: true }).fill("owned again 9 battery");
    await rescue.getByRole("button", { name: "Save the password" }).click();
    await rescue.getByRole("heading", { name: "Your password is changed" }).waitFor();
    for (const tab of [page, other]) await expect.poll(() => signedIn(tab)).toBeUndefined();
    await rescue.getByRole("link", { name: "Go to sign in" }).click();
    expect(await rescue.getByLabel("Email", { exact: true }).inputValue()).toBe(owner.email);
    await rescue.getByLabel("Password", { exact: true }).fill("owned again 9 battery");
    await rescue.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
    await expect.poll(() => signedIn(rescue)).toBe(owner.email);
  },
);

it.runIf(full)("is made with one click in the browser that asked, and kept from being made by whoever thinks better of it", async () => {
  const owner = await stage.person(false);
  const [mistyped, next] = [0, 1].map(() => new Visitor(stage.product.url, stage.product.sandboxUrl)) as [Visitor, Visitor];
  const page = await pageOf(stage, owner);
  await page.goto(`${stage.url}/profile`);
  for (const { email } of [mistyped, next]) {
    await page.getByRole("button", { name: "Change email" }).click();
    await page.getByLabel("New email").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText(`Waiting for ${email} to be confirmed.`).waitFor();
    if (email === next.email) continue;
    await page.getByRole("button", { name: "Keep the present address" }).click();
    await page.getByText("to be confirmed").waitFor({ state: "detached" });
  }
  const late = await page.context().newPage();
  await late.goto(await linkTo(mistyped, "change"));
  await late.getByRole("heading", { name: "This link no longer works" }).waitFor();
  await late.goto(await linkTo(next, "change"));
  await late.getByText(`Your account now uses ${next.email}.`).waitFor();
  await late.getByRole("link", { name: "Go on" }).click();
  await late.getByRole("main").getByText(next.email).waitFor();
  expect([await signedIn(late), new URL(late.url()).pathname]).toEqual([next.email, "/profile"]);
});
