/** Buying a credit pack: offered to people with a paid plan, paid at the hosted page, in the wallet when they are back. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Stage } from "./support.ts";
import { deviceOf, placeOrder, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterAll(() => stage?.close());

it("leads from the wallet to the packs, to the payment page and back to the credits", async () => {
  const subscriber = await stage.person(true);
  const context = await deviceOf(stage, subscriber, { viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(`${stage.url}/profile`);
  await page.getByRole("link", { name: "Buy a credit pack" }).click();
  await page.waitForURL("**/pricing#packs");
  await page.getByRole("button", { name: "Buy 250 credits for $17.99" }).click();
  await placeOrder(page);
  await page.getByRole("heading", { name: "250 credits" }).waitFor();
  await page.getByRole("button", { name: "Pay $17.99" }).click();
  await page.getByRole("heading", { name: "250 credits are yours" }).waitFor();
  await page.getByText("They are good for 12 months. The credits that expire first are spent first.").waitFor();
  await page.getByRole("listitem").filter({ hasText: "250 of 250 left" }).filter({ hasText: "Pack" }).waitFor();
  await expect.poll(() => page.getByText("available now").locator("..").textContent()).toContain("550");
  await context.close();
});

it("shows the packs without a button to those who can't buy one", async () => {
  const context = await deviceOf(stage, await stage.person(false));
  const page = await context.newPage();
  await page.goto(`${stage.url}/pricing#packs`);
  await page.getByText("A pack needs a plan that is paid.").waitFor();
  expect(await page.getByRole("button", { name: /^Buy / }).count()).toBe(0);
  await context.close();
});
