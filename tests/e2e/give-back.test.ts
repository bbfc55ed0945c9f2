/** A person cancels and resumes, withdraws from a pack, and takes the money of their plan back, by clicks on the real product. */
import { afterAll, afterEach, beforeAll, it } from "vitest";
import { packs, plans } from "#domain/plans.ts";
import { full } from "#tests/support/full.ts";
import { photographed } from "#tests/support/photographs.ts";
import { Payer } from "./payer-support.ts";
import type { Stage } from "./support.ts";
import { setStage } from "./support.ts";
import type { Device } from "./walk-support.ts";
import { Walk } from "./walk-support.ts";

let stage: Stage;
let walk: Walk | undefined;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(async () => {
  await walk?.page.context().close();
  walk = undefined;
});
afterAll(() => stage?.close());

const { starter } = plans;
const [pack] = packs;
const packName = `Credit pack, ${pack.credits} credits`;

/** With a plan and a pack, after one answer. Somebody who is looked at all the way signs up on the page. */
async function customer(device: Device): Promise<Payer> {
  const { browser, product } = stage;
  const usual = {
    browser,
    product: { url: stage.url, sandboxUrl: product.sandboxUrl },
    device,
    language: "en",
    name: "give-back",
  } as const;
  if (!full && !photographed) {
    const visitor = await stage.person(true);
    if (!visitor.session) throw new Error("not signed in");
    walk = await Walk.begin({ ...usual, session: visitor.session });
    return new Payer(walk, visitor, stage.db);
  }
  walk = await Walk.begin(usual);
  const { page } = walk;
  await page.goto(stage.url);
  const visitor = await walk.signUpBy(page.getByRole("main").getByRole("link", { name: "Get Started" }).first());
  const person = new Payer(walk, await visitor.signIn(), stage.db);
  await person.subscribe("Starter", starter.monthlyCredits);
  return person;
}

it.each(full || photographed ? (["phone", "desktop"] as const) : (["phone"] as const))(
  "on a %s: cancelled and resumed, a pack withdrawn from in two steps, the plan's money back, and history, wallet and invoices say so",
  async (device) => {
    const person = await customer(device);
    const { page, walk: begun } = person;
    const { monthlyCredits } = starter;
    await page.goto(`${stage.url}/ai-models?model=gpt-6-luna`);
    await begun.send("What is a tessera?", 1);
    await begun
      .receipt(1, monthlyCredits - 1)
      .first()
      .waitFor();
    await person.buy(pack);
    await person.cancelAndResume("Starter", pack.credits);
    await person.withdraw(
      packName,
      pack.priceCents,
      /The unspent credits of this pack are taken back. Your plan and your other credits stay./,
    );
    await person.agree("pack-back", { credits: monthlyCredits - 1, invoices: ["Refunded", "Paid"] });
    // What was paid is less than the price if a campaign runs.
    const paidCents = (await person.billed()).at(-1) ?? 0;
    await person.takeMoneyBack(paidCents, "Starter");
    await person.agree("money-back", { credits: 0, owed: 1, hasPlan: false, invoices: ["Refunded", "Refunded"] });
    if (full || photographed) {
      // Whoever comes back makes up for what they had spent, and can withdraw from the new contract.
      await person.go("/pricing");
      await person.subscribe("Starter", monthlyCredits);
      const [againCents = 0] = await person.billed();
      const unspentCents = Math.ceil((againCents * (monthlyCredits - 1)) / monthlyCredits);
      await person.withdraw("Starter Plan, one month", unspentCents, /Your plan ends at once, and its unspent credits are taken back/);
      await person.agree("plan-back", { credits: 0, hasPlan: false, invoices: ["refunded", "Refunded", "Refunded"] });
    }
    await begun.end();
  },
  360_000,
);
