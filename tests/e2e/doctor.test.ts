/** "Something wrong with a payment?": one button finds what differs from the payment service, puts it right and says so. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterAll(() => stage?.close());

it("puts right a plan and an invoice that are shown wrongly, says which, and has nothing to do the second time", async () => {
  const subscriber = await stage.person(true);
  const context = await deviceOf(stage, subscriber, { viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await page.goto(`${stage.url}/profile/billing`);
  await page.getByRole("button", { name: /^Receipt for invoice/ }).waitFor();
  // The events of the purchase would put right what is planted now.
  const waiting = () => stage.db.selectFrom("stripe_events").select("id").where("status", "=", "received").execute();
  await expect.poll(waiting).toEqual([]);
  const { id } = await stage.db
    .updateTable("user_subscriptions")
    .set({ plan_key: "enterprise" })
    .from("identities")
    .whereRef("identities.user_id", "=", "user_subscriptions.user_id")
    .where("subject", "=", subscriber.email)
    .returning("stripe_subscription_id as id")
    .executeTakeFirstOrThrow();
  await stage.db.updateTable("invoices").set({ status: "open", unpaid_cents: 1999 }).where("stripe_subscription_id", "=", id).execute();
  await page.reload();
  await page.getByRole("button", { name: /^Pay invoice/ }).waitFor();
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByText("The subscription was shown wrongly and is right again.").waitFor();
  await page.getByText("The list of invoices was out of date and is right again.").waitFor();
  await page.getByRole("button", { name: /^Receipt for invoice/ }).waitFor();
  await page.getByRole("button", { name: "Check again" }).click();
  await page.getByText("Everything is right").waitFor();
  expect(await page.getByText("was shown wrongly").count()).toBe(0);
  await context.close();
});
