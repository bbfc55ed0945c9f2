/** An outage of another service only delays a job: it causes no dead letter and no second mail. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import Fastify from "fastify";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { createTransport } from "nodemailer";
import pg from "pg";
import Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase } from "#server/db/database.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { freePort } from "#server/embedded/processes.ts";
import { failureKind } from "#server/failures.ts";
import { sendMail } from "#server/features/notifications/service.ts";
import { registerProblems } from "#server/http/problem.ts";
import { runJob } from "../../worker/run-job.ts";
import { startSilentServer } from "../support/silent-server.ts";
import type { WorkerWorld } from "../support/worker-world.ts";
import { createWorkerWorld } from "../support/worker-world.ts";

let world: WorkerWorld;

beforeAll(async () => {
  world = await createWorkerWorld();
});
afterAll(() => world.close());

/** The error of a transaction whose connection PostgreSQL closes before `work` runs. */
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
  "settle-checkout": async () => {
    throw error;
  },
  "settle-transfer": async () => {
    throw error;
  },
  "read-invoices": async () => {
    throw error;
  },
  "tell-low-credits": async () => {
    throw error;
  },
  "update-customer": async () => {
    throw error;
  },
  "send-mail": async () => {
    throw error;
  },
  "make-export": async () => {
    throw error;
  },
  "delete-files": async () => {},
  "delete-file": async () => {
    throw error;
  },
  "align-subscription": async () => {
    throw error;
  },
  "pay-back": async () => {
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

/** Real failures: each calls a service that is away or silent, and rejects with the client library's error. */
const failures: Record<string, (silentPort: number) => Promise<unknown>> = {
  "PostgreSQL gives no connection in time": async () => {
    const pool = new pg.Pool({ connectionString: world.database.applicationUrl, max: 1, connectionTimeoutMillis: 50 });
    const taken = await pool.connect();
    return pool.query("select 1").finally(async () => {
      taken.release();
      await pool.end();
    });
  },
  "PostgreSQL takes the connection and is silent": async (port) => {
    const pool = new pg.Pool({ connectionString: `postgres://x:x@127.0.0.1:${port}/x`, connectionTimeoutMillis: 50 });
    return pool.query("select 1").finally(() => pool.end());
  },
  "PostgreSQL refuses the connection": async () => {
    const pool = new pg.Pool({ connectionString: "postgres://x:x@127.0.0.1:9/x" });
    return pool.query("select 1").finally(() => pool.end());
  },
  "PostgreSQL does not answer a statement": async () => {
    const pool = new pg.Pool({ connectionString: world.database.applicationUrl, max: 1, query_timeout: 50 });
    return pool.query("select pg_sleep(0.3)").finally(() => pool.end());
  },
  "PostgreSQL has no connection left": async () => {
    const client = new pg.Client({ connectionString: world.database.applicationUrl });
    await client.connect();
    return client.query("do $$ begin raise exception 'too many' using errcode = '53300'; end $$").finally(() => client.end());
  },
  "Redis refuses the connection": async () => {
    const redis = new Redis("redis://127.0.0.1:9", { maxRetriesPerRequest: 0, lazyConnect: true, retryStrategy: () => null });
    redis.on("error", () => {});
    return redis.get("x").finally(() => redis.disconnect());
  },
  "Redis is gone and nothing is kept for it": async () => {
    const redis = new Redis("redis://127.0.0.1:9", { enableOfflineQueue: false, lazyConnect: true });
    redis.on("error", () => {});
    return redis.get("x").finally(() => redis.disconnect());
  },
  "Redis is silent": async (port) => {
    const redis = new Redis(`redis://127.0.0.1:${port}`, { commandTimeout: 50, maxRetriesPerRequest: null, enableReadyCheck: false });
    redis.on("error", () => {});
    return redis.get("x").finally(() => redis.disconnect());
  },
  "an address refuses a call": async () => fetch(`http://127.0.0.1:${await freePort()}/`),
  "an address is silent": (port) => fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(50) }),
  "a name is not known": () => fetch("http://nobody.invalid/"),
  "the mail server refuses the connection": () => createTransport({ host: "127.0.0.1", port: 9 }).verify(),
  "the mail server does not greet": (port) => createTransport({ host: "127.0.0.1", port, greetingTimeout: 50 }).verify(),
  "Stripe refuses the connection": () => stripeAt(9).balance.retrieve(),
  "Stripe is silent": (port) => stripeAt(port, 100).balance.retrieve(),
};

function stripeAt(port: number, timeout = 1_000): Stripe {
  return new Stripe("sk_test_x", { host: "127.0.0.1", port, protocol: "http", maxNetworkRetries: 0, timeout });
}

/** The status with which the API answers a request that fails with this error. */
async function statusFor(error: unknown): Promise<number> {
  const app = Fastify();
  registerProblems(app);
  app.get("/", async () => {
    throw error;
  });
  const { statusCode } = await app.inject("/");
  await app.close();
  return statusCode;
}

describe("not an outage", () => {
  it.each([
    ["a bug of our own", new TypeError("undefined is not a function")],
    ["an answer of ours that does not fit", Object.assign(new Error("the answer has no such form"), { statusCode: 500 })],
    ["a row that PostgreSQL refuses", Object.assign(new Error("duplicate key"), { code: "23505" })],
    ["a mail that is refused for good", Object.assign(new Error("no such user"), { code: "EENVELOPE", responseCode: 550 })],
    ["a request that Stripe refuses", Object.assign(new Error("No such price"), { type: "StripeInvalidRequestError", statusCode: 400 })],
    ["no error at all", undefined],
  ])("%s", async (_name, error) => {
    expect(failureKind(error)).toBe("bug");
    if (error) expect(await statusFor(error)).not.toBe(503);
  });
});

describe("an outage", () => {
  it.each(Object.keys(failures))("is recognised: %s", async (name) => {
    const silent = await startSilentServer();
    const error = await failures[name]?.(silent.port).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await silent.close();
    expect(error).toBeInstanceOf(Error);
    expect(failureKind(error), String(error)).toBe("outage");
    expect(await statusFor(error)).toBe(503);
  });

  it("of Stripe is still recognised when the transaction has ended meanwhile", async () => {
    const away = Object.assign(new Error("timeout"), { type: "StripeConnectionError" });
    const failure = await failureOf(async () => {
      throw away;
    });
    expect(failure).toBe(away);
    expect(failureKind(failure)).toBe("outage");
  });

  it("of PostgreSQL within a transaction is recognised", async () => {
    expect(failureKind(await failureOf(async () => {}))).toBe("outage");
  });

  it.each([
    ["a mail server that asks to try again later", { code: "EENVELOPE", command: "RCPT TO", responseCode: 451 }],
    ["a mail server that refuses our sign-in", { code: "EAUTH", command: "API", responseCode: 535 }],
  ])("is %s: the job never becomes a dead letter", async (_name, details) => {
    const job = await publishedBefore(50);
    await runJob(world.deps, fail(Object.assign(new Error("refused"), details)), job);
    expect(await deadLetters()).toBe(0);
  });

  it("and a long wait in the queue don't count as failures of the job", async () => {
    const job = await publishedBefore(50);
    const broken = fail(new Error("broken"));
    for (let attempt = 1; attempt <= 9; attempt += 1) await runJob(world.deps, broken, job);
    expect(await deadLetters()).toBe(0);
    await runJob(world.deps, broken, job);
    expect(await deadLetters()).toBe(1);
  });
});

it("a slow mail server gets a mail once, and the mail is recorded as sent", async () => {
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
