/** The migration that partitions the answers' log keeps every row, on the way up and down. */
import pg from "pg";
import { expect, test } from "vitest";
import { migrationNames } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { ask, resume, startAnswerProcess, startAnswerWorld } from "#tests/support/answers.ts";
import { createPerson } from "#tests/support/people.ts";

const oldAnswer = `
  with old as (
    insert into generations
      select (jsonb_populate_record(g, jsonb_build_object('id', uuidv7(interval '-7 days'), 'idempotency_key', 'a-week-old', 'capture_id', null))).*
        from generations g limit 1
      returning id)
  insert into generation_events select id, 1, 1, 'id: 1' from old`;

test("with data the log goes down to one table and up to partitions without losing a row, and its answers can be read again", async () => {
  const world = await startAnswerWorld();
  const { ownerUrl, applicationUrl, db } = world.database;
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    const log = async () => (await owner.query("select * from generation_events order by generation_id, first_event")).rows;
    const names = await migrationNames();
    const index = names.findIndex((name) => name.endsWith("_log_partitions"));
    const person = await createPerson(world.api, db);
    const answers = [await ask(world.api, person), await ask(world.api, person)];
    // One of the default partition, as after a while without a worker.
    await owner.query(oldAnswer);
    const before = await log();
    expect(before.length).toBeGreaterThan(2);

    await migrate({ ownerUrl, applicationRole, downTo: names[index - 1] ?? "" });
    expect(await log()).toEqual(before);
    await migrate({ ownerUrl, applicationRole });
    expect(await log()).toEqual(before);
    const elsewhere = await startAnswerProcess(applicationUrl, world.models.url);
    for (const answer of [...answers, await ask(elsewhere, person)])
      expect((await resume(elsewhere, person, answer.generationId, 0)).text).toBe(answer.text);
    await elsewhere.close();
  } finally {
    await owner.end();
    await world.close();
  }
});
