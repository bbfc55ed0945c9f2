/** Five letters that the team gets, each from the overview to the mend: what an admin clicks, and how long the pages take. */
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { full } from "#tests/support/full.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import { clerk, on, viewports } from "./admin-support.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

/** An admin at the overview, who has read a letter from somebody. */
class Walk {
  clicks = 0;
  private readonly page: Page;
  private readonly startedAt = performance.now();

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    await target.click();
    this.clicks += 1;
  }

  press(name: string): Promise<void> {
    return this.click(this.page.getByRole("button", { name, exact: true }));
  }

  /** By the field that one key opens, from wherever the admin is. */
  async openPerson(email: string): Promise<void> {
    await this.page.keyboard.press("/");
    const dialog = this.page.getByRole("dialog", { name: "Find a person" });
    await dialog.getByRole("searchbox").fill(email);
    await dialog.getByRole("link", { name: email }).waitFor();
    await this.page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
  }

  /** Opens the act's dialog, gives the reason and does it. */
  async act(name: string, reason: string): Promise<void> {
    await this.press(name);
    const dialog = this.page.getByRole("dialog", { name });
    await dialog.getByLabel("Reason").fill(reason);
    await this.click(dialog.locator('button[type="submit"]'));
    await dialog.waitFor({ state: "detached" });
  }

  tab(name: string): Promise<void> {
    return this.click(this.page.getByRole("navigation", { name: "What is shown of the person" }).getByRole("link", { name, exact: true }));
  }

  seconds(): string {
    return ((performance.now() - this.startedAt) / 1_000).toFixed(1);
  }
}

async function plantWrongPlan({ email }: Visitor): Promise<void> {
  // The events of the purchase would put right what is planted.
  const waiting = () => stage.db.selectFrom("stripe_events").select("id").where("status", "=", "received").execute();
  await expect.poll(waiting).toEqual([]);
  await stage.db
    .updateTable("user_subscriptions")
    .set({ status: "canceled" })
    .from("identities")
    .whereRef("identities.user_id", "=", "user_subscriptions.user_id")
    .where("subject", "=", email)
    .execute();
}

interface Letter {
  says: string;
  clicks: number;
  before?(person: Visitor): Promise<unknown>;
  mend(walk: Walk, page: Page): Promise<void>;
}

const letters: readonly Letter[] = [
  {
    says: "I paid and nothing came",
    clicks: 2,
    before: plantWrongPlan,
    async mend(walk, page) {
      await walk.press("Check payments");
      const dialog = page.getByRole("dialog", { name: "Check payments" });
      await dialog.getByLabel("Reason").fill("They paid and see no plan");
      await walk.click(dialog.locator('button[type="submit"]'));
      await page.getByText("The subscription was shown wrongly and is right again.").waitFor();
    },
  },
  {
    says: "I was charged twice",
    clicks: 2,
    async mend(walk, page) {
      await walk.act("Refund", "They were charged twice");
      await page.getByText("$15.99 refunded").waitFor();
    },
  },
  {
    says: "Where did my credits go?",
    clicks: 1,
    before: (person) => person.ask(),
    async mend(walk, page) {
      await walk.tab("Credits");
      await page.getByText("The entries add up to 299. The balance is 299.").waitFor();
    },
  },
  {
    says: "Cancel my plan and give me my money back",
    clicks: 4,
    async mend(walk, page) {
      await walk.act("Cancel plan", "They asked by mail");
      await page.getByRole("button", { name: "Resume plan" }).waitFor();
      await walk.act("Refund", "They asked by mail");
      await page.getByText("$15.99 refunded").waitFor();
    },
  },
  {
    says: "Somebody else is in my account",
    clicks: 4,
    async mend(walk, page) {
      await walk.tab("Audit log");
      await page.getByText("sign_up.confirmed").waitFor();
      await walk.tab("Overview");
      await walk.act("Give the account back", "Somebody else is in the account");
      await page.getByText("gets an email with a link for a new password.").waitFor();
      await page.getByText("Signed in nowhere").waitFor();
    },
  },
];

it.runIf(full).each(on("desktop"))(
  "on a %s what people write most is answered from the overview in a few clicks",
  async (device) => {
    const page = await pageOf(stage, await clerk(stage), { viewport: viewports[device] });
    for (const { says, clicks, before, mend } of letters) {
      const person = await stage.person(true);
      await before?.(person);
      await page.goto(`${stage.url}/admin`);
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      const walk = new Walk(page);
      await walk.openPerson(person.email);
      await mend(walk, page);
      console.info(`${device}, “${says}”: ${walk.clicks} clicks, ${walk.seconds()} s`);
      expect(walk.clicks, says).toBe(clicks);
    }
  },
  180_000,
);
