/** Somebody else's outage costs time and nothing else: no dead letter, no second mail. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { sendMail } from "#server/features/notifications/service.ts";
import { isOutage, runJob } from "../../worker/run-job.ts";
import type { WorkerWorld } from "../support/worker-world.ts";
import { createWorkerWorld } from "../support/worker-world.ts";

let world: WorkerWorld;

beforeEach(async () => {
  world = await createWorkerWorld();
});
afterEach(async () => {
  await world.close();
});

/** What fails in a transaction whose connection PostgreSQL ends meanwhile, before `work` goes on. */
function failureOf(work: () => Promise<void>): Promise<unknown> {
  return inTransaction(world.deps.db, async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = '50ms'`.execute(trx);
    await delay(300);
    await work();
    await sql`select 1`.execute(trx);
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

const fail = (error: unknown) => ({
  "process-stripe-event": async () => {
    throw error;
  },
  "send-mail": async () => {
    throw error;
  },
});

async function publishedBefore(times: number) {
  const id = randomUUID();
  const payload = { mailId: randomUUID() };
  await world.deps.db
    .insertInto("outbox")
    .values({ id, job: "send-mail", payload: JSON.stringify(payload), published_at: null, publications: times })
    .execute();
  return { id, name: "send-mail", payload };
}

const deadLetters = async () => (await world.deps.db.selectFrom("dead_letters").select("id").execute()).length;

describe("an outage", () => {
  it("of Stripe that outlives the transaction is still known as one", async () => {
    const away = Object.assign(new Error("timeout"), { type: "StripeConnectionError" });
    const failure = await failureOf(async () => {
      throw away;
    });
    expect(failure).toBe(away);
    expect(isOutage(failure)).toBe(true);
  });

  it("of PostgreSQL within a transaction is known as one", async () => {
    expect(isOutage(await failureOf(async () => {}))).toBe(true);
  });

  it.each([
    ["a mail server that says later", { code: "EENVELOPE", command: "RCPT TO", responseCode: 451 }],
    ["a mail server that refuses our sign-in", { code: "EAUTH", command: "API", responseCode: 535 }],
  ])("is %s: however often, no dead letter", async (_name, details) => {
    const job = await publishedBefore(50);
    await runJob(world.deps, fail(Object.assign(new Error("refused"), details)), job);
    expect(await deadLetters()).toBe(0);
  });

  it("and a long wait in the queue are not counted as failures of the job's own", async () => {
    const job = await publishedBefore(50);
    const broken = fail(new Error("broken"));
    for (let attempt = 1; attempt <= 9; attempt += 1) await runJob(world.deps, broken, job);
    expect(await deadLetters()).toBe(0);
    await runJob(world.deps, broken, job);
    expect(await deadLetters()).toBe(1);
  });
});

it("a mail server that takes its time is given one mail, and the mail is known to be sent", async () => {
  const pool = new pg.Pool({ connectionString: world.database.applicationUrl, max: 1, idle_in_transaction_session_timeout: 100 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = createDatabase(pool);
  const recipient = await world.queueOne();
  const mail = await world.deps.db.selectFrom("mails").select("id").executeTakeFirstOrThrow();
  const slow = {
    ...world.deps.mail,
    send: async (message: Parameters<typeof world.deps.mail.send>[0]) => {
      await delay(400);
      await world.deps.mail.send(message);
    },
  };
  await sendMail({ ...world.deps, db, mail: slow }, mail.id);
  await sendMail({ ...world.deps, db, mail: slow }, mail.id);
  expect(world.delivered).toEqual([recipient]);
  await db.destroy();
});
