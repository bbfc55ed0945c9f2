/** The migration that gives ids in JSON and in texts columns of their own fills them from what was written before it, and goes down again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MigrationSteps } from "#tests/support/migration-steps.ts";
import { stepsOver } from "#tests/support/migration-steps.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";

let { owner, goUp, goBack, close } = {} as MigrationSteps;
beforeAll(async () => {
  ({ owner, goUp, goBack, close } = await stepsOver("0120_typed_references", await createEmptyDatabase()));
});
afterAll(() => close());
const firstOf = async (text: string, ...values: unknown[]) => (await owner.query(text, values)).rows[0];

/** A wallet, and a hold for every answer. */
async function addPerson(): Promise<string> {
  const { id } = await firstOf("insert into users (created_at) values (now()) returning id");
  await owner.query("insert into wallets (billing_account_id, created_at) select payer_of($1), now()", [id]);
  await owner.query("select ledger_post_grant(w.id, 'plan', 100, '2100-01-01', 'grant:in_1:il_1', now()) from wallets w");
  return id;
}

/** As the release before writes it. */
async function addAnswer(userId: string, options: object | null = null): Promise<string> {
  const { generation_id: id } = await firstOf(
    `select generation_id from answer_start(uuidv7(), $1, 'gpt-5-mini', gen_random_uuid()::text, '', 1, null, '{plan}', false, null, 0, 100, 100,
       uuidv7(), 60000, 60000, now())`,
    userId,
  );
  if (options) await owner.query("update generations set options = $2 where id = $1", [id, options]);
  return id;
}

async function addFile(userId: string, generationId: string): Promise<string> {
  const { id } = await firstOf(
    "insert into files (user_id, kind, generation_id, name, content_type, bytes, created_at) values ($1, 'output', $2, 'p.png', 'image/png', 8, now()) returning id",
    userId,
    generationId,
  );
  await owner.query(
    "insert into generation_parts (generation_id, place, kind, detail) values ($1, 1, 'picture', jsonb_build_object('fileId', $2::uuid))",
    [generationId, id],
  );
  return id;
}

const addFinding = (kind: string, subject: string) =>
  owner.query("insert into findings (kind, subject, details, first_seen_at, last_seen_at) values ($1, $2, '{}', now(), now())", [
    kind,
    subject,
  ]);

test("an answer that is read aloud, a picture's file, a finding's row and a failed check's account are known by id, written before it or after", async () => {
  await goUp();
  await goBack();
  const userId = await addPerson();
  const { payer } = await firstOf("select payer_of($1) as payer", userId);
  const written = async () => {
    const read = await addAnswer(userId);
    const picture = await addAnswer(userId, { size: "square" });
    const reading = await addAnswer(userId, { speech: { voice: "coral", reads: read } });
    return { read, picture, reading, file: await addFile(userId, picture) };
  };
  const before = await written();
  await addFinding("stale_hold", before.read);
  await addFinding("unpaid_return", before.picture);
  await addFinding("lost_event", "evt_1");
  await owner.query(
    "insert into sweep_failures (sweep, subject, failures, retry_at, error) values ('account-checks', $1, 1, now(), ''), ('repairs', 'in_1', 1, now(), '')",
    [payer],
  );
  await goUp();
  for (const { read, picture, reading, file } of [before, await written()]) {
    expect(
      (await owner.query("select id, reads_id from generations where id = any ($1) order by id", [[read, picture, reading]])).rows,
    ).toEqual([
      { id: read, reads_id: null },
      { id: picture, reads_id: null },
      { id: reading, reads_id: read },
    ]);
    expect(await firstOf("select file_id from generation_parts where generation_id = $1", picture)).toEqual({ file_id: file });
  }
  expect((await owner.query("select kind, hold_id, money_back_id from findings order by kind")).rows).toEqual([
    { kind: "lost_event", hold_id: null, money_back_id: null },
    { kind: "stale_hold", hold_id: before.read, money_back_id: null },
    { kind: "unpaid_return", hold_id: null, money_back_id: before.picture },
  ]);
  expect((await owner.query("select sweep, billing_account_id from sweep_failures order by sweep")).rows).toEqual([
    { sweep: "account-checks", billing_account_id: payer },
    { sweep: "repairs", billing_account_id: null },
  ]);
  // What was read aloud goes with what was read, before and after.
  for (const way of [goUp, goBack]) {
    await way();
    const { read, reading } = await written();
    await owner.query("select answers_erase(array[$1::uuid])", [read]);
    expect((await firstOf("select erased_at from generations where id = $1", reading)).erased_at).toBeInstanceOf(Date);
  }
});
