import { afterEach, expect, it } from "vitest";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import type { OwnPostgres } from "#tests/support/own-postgres.ts";
import { startOwnPostgres } from "#tests/support/own-postgres.ts";
import { hasTurn } from "#tests/support/rotation.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { startScale } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

let postgres: OwnPostgres | undefined;
let product: ScaleSetup | undefined;
afterEach(async () => {
  if (product) await product.stop();
  else await postgres?.database.drop();
  product = undefined;
  postgres = undefined;
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** As somebody does who is told to try again in a moment. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt > 120) throw error;
      await pause(250);
    }
  }
}

it.skipIf(!hasTurn(0, 2))(
  "PostgreSQL killed with -9 at random moments of the main job: everybody gets what they paid for, and the books agree",
  async () => {
    const seed = Math.floor(Date.now() / 1_000) % 100_000;
    const random = seededRandom(seed);
    postgres = await startOwnPostgres();
    product = await startScale({ database: postgres.database, workers: 2 });
    const { apiUrls, sandboxUrl, database } = product;
    const kills = process.env.TEST_FULL === "1" ? 20 : 4;
    let busy = true;
    let answered = 0;
    const life = async (): Promise<void> => {
      const visitor = new Visitor(apiUrls[0] ?? "", sandboxUrl);
      await persist(() => visitor.signUp());
      await persist(() => visitor.confirm());
      const url = await persist(() => visitor.checkout());
      await persist(() => visitor.pay(url));
      await visitor.waitForSubscription(300, 60_000);
      while (busy) {
        const answer = await visitor.ask().catch(() => undefined);
        if (answer?.receipt?.status === "completed") answered += 1;
        else await pause(100);
      }
    };
    const lives = Promise.all([life(), life(), life()]);
    lives.catch(() => {});
    const ways: (() => Promise<void>)[] = [
      async () => {
        await postgres?.killPostmaster();
        await pause(random(1_000));
        await postgres?.start();
      },
      async () => {
        await postgres?.killAll();
        await postgres?.start();
      },
      async () => postgres?.killBackend("tessera api"),
      async () => postgres?.killBackend("tessera worker"),
    ];
    for (let round = 0; round < kills; round += 1) {
      await pause(200 + random(1_500));
      await persist(async () => ways[(round + seed) % ways.length]?.());
    }
    busy = false;
    await lives;
    await waitUntilSettled(database, 60_000);
    await expectBooksAgree(database);
    const plans = await database.db.selectFrom("grants").select("credits").where("kind", "=", "plan").execute();
    expect(plans, `seed ${seed}`).toEqual([{ credits: 300 }, { credits: 300 }, { credits: 300 }]);
    const people = await database.db.selectFrom("user_subscriptions").select("status").execute();
    expect(people, `seed ${seed}`).toEqual([{ status: "active" }, { status: "active" }, { status: "active" }]);
    const charged = await database.db
      .selectFrom("generations")
      .select((select) => select.fn.sum<number>("charged_credits").as("credits"))
      .executeTakeFirst();
    // What was told to be complete is complete; more may be, whose teller was cut off.
    expect(Number(charged?.credits ?? 0), `seed ${seed}`).toBeGreaterThanOrEqual(answered);
  },
  240_000,
);
