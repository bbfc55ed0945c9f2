/** The migration that moves keys to tables of their own knows what was posted and sent before it, on the way up and down. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MigrationSteps } from "#tests/support/migration-steps.ts";
import { stepsOver } from "#tests/support/migration-steps.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";

let { owner, goUp, goBack, close } = {} as MigrationSteps;
beforeAll(async () => {
  ({ owner, goUp, goBack, close } = await stepsOver("0036_keys", await createEmptyDatabase()));
});
afterAll(() => close());

const rowsOf = async (text: string, ...values: unknown[]) => (await owner.query(text, values)).rows;
const userId = randomUUID();

/** Starts an answer of one credit under `key`, or finds the one that is there. */
async function start(key: string, hash = ""): Promise<{ outcome: string; generation_id: string }> {
  const rows = await rowsOf(
    `select outcome, generation_id from answer_start(uuidv7(), $1, 'gpt-5-mini', $2, $3, 1, null, '{plan}', false, null, 0, 100, 100, uuidv7(),
       60000, 60000, now())`,
    userId,
    key,
    Buffer.from(hash),
  );
  return rows[0];
}

const post = (key: string, amount: number) =>
  rowsOf("select posted from wallets w, ledger_post_grant(w.id, 'plan', $2, '2030-01-01', $1, now())", key, amount);
const conflict = (work: Promise<unknown>, code: string) => expect(work).rejects.toMatchObject({ code });

async function expectKnown(sent: { generation_id: string }): Promise<void> {
  expect(await start("key-of-ada")).toEqual({ outcome: "known", generation_id: sent.generation_id });
  expect((await start("key-of-ada", "other")).outcome).toBe("conflict");
  expect(await post("grant:in_1:il_1", 100)).toEqual([{ posted: false }]);
  await conflict(post("grant:in_1:il_1", 101), "TS409");
  expect(await rowsOf("select * from ledger_disagreements()")).toEqual([]);
}

test("a key posted or sent before it is known after it, and the other way round; one forgotten meanwhile and used again stays with the newer answer", async () => {
  await goUp();
  await goBack();
  await owner.query("insert into users (id, created_at) values ($1, now())", [userId]);
  await owner.query("insert into wallets (billing_account_id, created_at) select payer_of($1), now()", [userId]);
  await post("grant:in_1:il_1", 100);
  const sent = await start("key-of-ada");
  expect(sent.outcome).toBe("created");
  await expectKnown(sent);

  await goUp();
  await expectKnown(sent);
  const forgotten = await start("key-of-bob");
  await owner.query("delete from generation_keys where key = 'key-of-bob'");
  const again = await start("key-of-bob");
  expect([again.outcome, again.generation_id !== forgotten.generation_id]).toEqual(["created", true]);

  await goBack();
  await expectKnown(sent);
  expect((await start("key-of-bob")).generation_id).toBe(again.generation_id);
  await conflict(
    rowsOf(
      "insert into ledger_transactions (key, kind, wallet_id, content, occurred_at) select key, kind, wallet_id, content, now() from ledger_transactions",
    ),
    "23505",
  );
  await goUp();
  await expectKnown(sent);
});
