/** Simulated people who sign up, buy a plan and ask one question after another while a test kills processes. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { expectBooksAgree, waitUntilSettled } from "./books.ts";
import type { ScaleSetup } from "./scale.ts";
import { Visitor } from "./visitor.ts";

const retryMs = 250;
const patienceMs = 90_000;

/** Retries the work until it succeeds, for up to 90 s, as a person would. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  const givenUpAt = Date.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > givenUpAt) throw error;
      await pause(retryMs);
    }
  }
}

export interface Lives {
  /** Lets everybody finish their current question, then checks that each has the one plan they paid for and that the books agree. */
  end(seed: number): Promise<void>;
}

/** Starts `count` people, each on a plan of 300 credits. */
export function liveOn({ apiUrls, sandboxUrl, database }: ScaleSetup, count: number): Lives {
  let busy = true;
  let answered = 0;
  const live = async (): Promise<void> => {
    const visitor = new Visitor(apiUrls[0] ?? "", sandboxUrl);
    await persist(() => visitor.signUp());
    // A confirmation whose response was lost has used the link up; then the password signs in.
    await persist(() => visitor.confirm().catch(async () => void (await visitor.signIn())));
    const url = await persist(() => visitor.checkout());
    await persist(async () => {
      const { status } = await visitor.pay(url);
      if (status >= 500) throw new Error(`the payment page answered ${status}`);
    });
    await visitor.waitForSubscription(300);
    while (busy) {
      const answer = await visitor.ask().catch(() => undefined);
      if (answer?.receipt?.status === "completed") answered += 1;
      else await pause(100);
    }
  };
  const lives = Promise.all(Array.from({ length: count }, live));
  lives.catch(() => {});
  return {
    async end(seed) {
      busy = false;
      await lives;
      await waitUntilSettled(database);
      await expectBooksAgree(database);
      const plans = await database.db.selectFrom("grants").select("credits").where("kind", "=", "plan").execute();
      expect(plans, `seed ${seed}`).toEqual(Array.from({ length: count }, () => ({ credits: 300 })));
      const people = await database.db.selectFrom("user_subscriptions").select("status").execute();
      expect(people, `seed ${seed}`).toEqual(Array.from({ length: count }, () => ({ status: "active" })));
      const charged = await database.db
        .selectFrom("generations")
        .select((select) => select.fn.sum<number>("charged_credits").as("credits"))
        .executeTakeFirst();
      // At least: an answer can complete after its client lost the connection and so never saw the receipt.
      expect(Number(charged?.credits ?? 0), `seed ${seed}`).toBeGreaterThanOrEqual(answered);
    },
  };
}
