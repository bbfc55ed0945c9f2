import { setTimeout as pause } from "node:timers/promises";
import { it } from "vitest";
import { full } from "#tests/support/full.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import { liveOn, persist } from "#tests/support/lives.ts";
import { startOwnPostgres } from "#tests/support/own-postgres.ts";
import { scaleFor } from "#tests/support/scale.ts";

it.runIf(full)(
  "PostgreSQL killed with -9 at random moments of the main job: everybody gets what they paid for and the books agree",
  async (test) => {
    const seed = Math.floor(Date.now() / 1_000) % 100_000;
    const random = seededRandom(seed);
    const postgres = await startOwnPostgres();
    const product = await scaleFor(test, { database: postgres.database, workers: 2 });
    const kills = full ? 20 : 2;
    const lives = liveOn(product, 3);
    const ways: (() => Promise<void>)[] = [
      async () => {
        await postgres.killPostmaster();
        await pause(random(1_000));
        await postgres.start();
      },
      async () => {
        await postgres.killAll();
        await postgres.start();
      },
      async () => postgres.killBackend("tessera api"),
      async () => postgres.killBackend("tessera worker"),
    ];
    for (let round = 0; round < kills; round += 1) {
      await pause(200 + random(1_500));
      await persist(async () => ways[(round + seed) % ways.length]?.());
    }
    await lives.end(seed);
  },
  240_000,
);
