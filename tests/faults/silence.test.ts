/**
 * While Stripe, the mail server or a model's provider accepts connections and says nothing, what does not need it goes on as before, and
 * what needs it is done afterwards, once. The stand-in of the silent service is a sandbox of its own, whose process is stopped (SIGSTOP).
 */
import { randomInt, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Stripe from "stripe";
import type { TestContext } from "vitest";
import { describe, expect, it } from "vitest";
import { freePort } from "#server/embedded/processes.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { Part, scaleFor } from "#tests/support/scale.ts";
import { until } from "#tests/support/until.ts";
import { Visitor } from "#tests/support/visitor.ts";

/** `npm test` has Stripe alone, for 12 s; `npm run test:full` all three, five minutes each, and limits how long everything else takes. */
const silentMs = full ? 300_000 : 12_000;
const beforeMs = full ? 30_000 : 3_000;
/** Waiting jobs are tried again after at most a minute. */
const caughtUpWithinMs = 150_000;
const token = "token-of-the-tests";
const webhookSecret = `whsec_${token}`;
/** Models of two providers, of which one falls silent. */
const models = { silent: "gpt-6-luna", other: "deepseek-flash" } as const;

type Service = "stripe" | "mail" | "models";

function variablesFor(service: Service, url: string, smtpPort: number): NodeJS.ProcessEnv {
  if (service === "mail") return { SMTP_URL: `smtp://127.0.0.1:${smtpPort}` };
  if (service === "models") return { OPENAI_API_KEY: "sandbox", OPENAI_BASE_URL: `${url}/providers/openai/v1` };
  return { STRIPE_SECRET_KEY: "sk_test_sandbox", STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: url };
}

interface World {
  setup: ScaleSetup;
  /** The sandboxes with the payment page and with the mails. */
  stripeUrl: string;
  mailUrl: string;
  /** Subscribers, whose requests are measured. */
  people: Visitor[];
  join(): Promise<Visitor>;
  silence(): void;
  speak(): void;
}

async function begin(test: TestContext, service: Service): Promise<World> {
  const [port, smtpPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const environment = { ...variablesFor(service, url, smtpPort), TRUSTED_PROXIES: "127.0.0.1" };
  const setup = await scaleFor(test, { redis: true, environment });
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-apart-"));
  const apart = new Part(`sandbox of ${service}`, "sandbox/main.ts", {
    PATH: process.env.PATH,
    DATA_DIR: folder,
    SANDBOX_PORT: String(port),
    SANDBOX_SMTP_PORT: String(smtpPort),
    SANDBOX_TOKEN: token,
    PRODUCT_URL: setup.apiUrls[0],
  });
  test.onTestFinished(async () => {
    await apart.stop("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  await apart.start();
  const [stripeUrl, mailUrl] = [service === "stripe" ? url : setup.sandboxUrl, service === "mail" ? url : setup.sandboxUrl];
  const instantly = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ paceMs: 0 }) };
  expect((await fetch(`${setup.sandboxUrl}/models/pace`, instantly)).status).toBe(200);
  const join = () => new Visitor(setup.apiUrls[0] ?? "", mailUrl).join();
  const people = await Promise.all([join(), join(), join()]);
  const cashier = new Visitor("", stripeUrl);
  for (const person of people) await cashier.pay(await person.checkout());
  await Promise.all(people.map((person) => person.waitForSubscription(300)));
  return {
    setup,
    stripeUrl,
    mailUrl,
    people,
    join,
    silence: () => process.kill(apart.pid, "SIGSTOP"),
    speak: () => process.kill(apart.pid, "SIGCONT"),
  };
}

const mailsTo = async ({ mailUrl }: World, email: string) =>
  ((await (await fetch(`${mailUrl}/mail?to=${encodeURIComponent(email)}`)).json()) as { subject: string }[]).map(({ subject }) => subject);

type Kind = "sign-in" | "wallet" | "answer" | "webhook" | "sign-up" | "mail";
interface Measured {
  /** How long each use took, in milliseconds. `mail`: a sign-up until its mail has arrived. */
  figures: Partial<Record<Kind, number[]>>;
  /** The addresses that signed up. */
  emails: string[];
  failures: string[];
}

const everyMs: Readonly<Record<Kind, number>> = { "sign-in": 500, wallet: 250, answer: 3_000, webhook: 200, "sign-up": 2_000, mail: 2_000 };

/** Uses the product in every way that does not need the silent service, until `over`. */
async function measure(world: World, service: Service, over: AbortSignal): Promise<Measured> {
  const { people, setup } = world;
  const [api = ""] = setup.apiUrls;
  const measured: Measured = { figures: {}, emails: [], failures: [] };
  const personOf = (turn: number) => people[turn % people.length] as Visitor;
  const { rows: subscriptions } = await setup.database.pool.query<{ id: string }>(
    "select stripe_subscription_id as id from user_subscriptions",
  );
  const expectStatus = async (response: Response, status: number) => {
    const text = await response.text();
    if (response.status !== status) throw new Error(`${response.status}: ${text}`);
  };
  /** Each from another address, since the limits of one address are not what is measured. */
  const post = (address: string, body: string, headers: Record<string, string> = {}) => {
    const from = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
    return fetch(api + address, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": from, ...headers },
      body,
    });
  };
  const uses: Partial<Record<Kind, (turn: number) => Promise<void>>> = {
    "sign-in": async (turn) => {
      const { email, password } = personOf(turn);
      await expectStatus(await post("/api/auth/sign-in", JSON.stringify({ email, password })), 200);
    },
    wallet: async (turn) => void (await personOf(turn).wallet()),
    answer: async (turn) => {
      const { receipt } = await personOf(turn).ask({ model: models.other });
      if (receipt?.status !== "completed") throw new Error(JSON.stringify(receipt));
    },
    webhook: async (turn) => {
      const object = { id: subscriptions[turn % subscriptions.length]?.id, object: "subscription" };
      const event = {
        id: `evt_${randomUUID()}`,
        object: "event",
        type: "customer.subscription.updated",
        livemode: false,
        data: { object },
      };
      const payload = JSON.stringify({ ...event, created: Math.floor(Date.now() / 1_000) });
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
      await expectStatus(await post("/api/stripe/webhook", payload, { "stripe-signature": signature }), 200);
    },
    [service === "mail" ? "sign-up" : "mail"]: async () => {
      const email = `somebody-${randomUUID()}@example.com`;
      await expectStatus(await post("/api/auth/sign-up", JSON.stringify({ email, password: "a tessera 4 two" })), 202);
      measured.emails.push(email);
      if (service !== "mail") await until(async () => (await mailsTo(world, email)).length > 0, `the mail to ${email}`, 60_000);
    },
  };
  const repeat = async (kind: Kind, use: (turn: number) => Promise<void>) => {
    const times: number[] = [];
    measured.figures[kind] = times;
    for (let turn = 0; !over.aborted; turn += 1) {
      const startedAt = performance.now();
      await use(turn).then(
        () => times.push(performance.now() - startedAt),
        (error: unknown) => measured.failures.push(`${kind}: ${String(error)}`),
      );
      await pause(everyMs[kind], undefined, { signal: over }).catch(() => {});
    }
  };
  await Promise.all(Object.entries(uses).map(([kind, use]) => repeat(kind as Kind, use)));
  return measured;
}

const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** Where nothing else runs: at most this long, or three times as long as before. */
const atOnceMs = 1_000;

function compare(service: Service, before: Measured, during: Measured): void {
  const say = (times: readonly number[]) => [0.5, 0.95].map((share) => Math.round(percentile(times, share))).join("/");
  const lines = Object.entries(during.figures).map(
    ([kind, times]) => `  ${kind}: p50/p95 ${say(before.figures[kind as Kind] ?? [])} ms before, ${say(times)} ms during (${times.length})`,
  );
  console.log(`${service} silent for ${silentMs / 1_000} s\n${lines.join("\n")}`);
  expect([...before.failures, ...during.failures]).toEqual([]);
  for (const [kind, times] of Object.entries(during.figures)) {
    expect(times.length, kind).toBeGreaterThan(0);
    const usual = percentile(before.figures[kind as Kind] ?? [], 0.95);
    if (full) expect(percentile(times, 0.95), kind).toBeLessThan(Math.max(atOnceMs, 3 * usual));
  }
}

/**
 * Measures before and during the silence. Meanwhile `need` asks for what needs the service, five times at once, again and again; every call
 * of it must come to an end.
 */
async function liveThrough(
  world: World,
  service: Service,
  need: (turn: number) => Promise<void>,
  fallSilent: () => Promise<void> = async () => world.silence(),
): Promise<string[]> {
  const before = await measure(world, service, AbortSignal.timeout(beforeMs));
  await until(
    async () => (await world.setup.database.db.selectFrom("outbox").select("id").execute()).length === 0,
    "no job to wait",
    60_000,
  );
  await fallSilent();
  const over = AbortSignal.timeout(silentMs);
  const needing = Promise.allSettled(
    Array.from({ length: 5 }, async (_, lane) => {
      for (let turn = lane; !over.aborted; turn += 5) {
        await need(turn);
        await pause(200);
      }
    }),
  );
  const during = await measure(world, service, over);
  world.speak();
  const refusals = (await needing).filter((result) => result.status === "rejected");
  expect(refusals).toEqual([]);
  compare(service, before, during);
  return [...before.emails, ...during.emails];
}

async function expectAllDoneOnce(world: World, emails: readonly string[]): Promise<void> {
  const { database } = world.setup;
  await waitUntilSettled(database, caughtUpWithinMs);
  await expectBooksAgree(database);
  const mails = await Promise.all(emails.map((email) => mailsTo(world, email)));
  expect(mails.filter((subjects) => subjects.length !== 1)).toEqual([]);
  const unsent = await database.db.selectFrom("mails").select("id").where("sent_at", "is", null).execute();
  expect(unsent).toEqual([]);
}

describe.concurrent(`a service that is silent for ${silentMs / 1_000} s`, () => {
  const timeoutMs = silentMs + 400_000;

  it("Stripe: everything else goes on; what was paid before is granted afterwards, once", { timeout: timeoutMs }, async (test) => {
    const world = await begin(test, "stripe");
    const { setup, people } = world;
    const worker = setup.workers[0] as Part;
    const cashier = new Visitor("", world.stripeUrl);
    const buyers = await Promise.all([world.join(), world.join()]);
    const urls = await Promise.all(buyers.map((buyer) => buyer.checkout()));
    // Their events are in the inbox when Stripe falls silent, and nobody has asked Stripe about them.
    const fallSilent = async () => {
      process.kill(worker.pid, "SIGSTOP");
      for (const url of urls) expect((await cashier.pay(url)).status).toBe(303);
      const arrived = `select count(distinct object_id)::integer as count from stripe_events
        where status = 'received' and type = 'checkout.session.completed'`;
      const { pool } = setup.database;
      await until(async () => (await pool.query(arrived)).rows[0]?.count === buyers.length, "the events of what was paid", 60_000);
      world.silence();
      process.kill(worker.pid, "SIGCONT");
    };
    const statuses: number[] = [];
    const openPortal = async (turn: number) => {
      const person = people[turn % people.length] as Visitor;
      statuses.push((await person.call("POST", "/api/billing/portal", {})).status);
    };
    const emails = await liveThrough(world, "stripe", openPortal, fallSilent);
    // Calls that Stripe answered with 200 were begun shortly before it spoke again.
    expect(statuses.filter((status) => status !== 502 && status !== 200)).toEqual([]);
    // A call is given up after twenty seconds (stripe-client.test.ts).
    if (full) expect(statuses).toContain(502);
    for (const buyer of buyers) await buyer.waitForSubscription(300, caughtUpWithinMs);
    await expectAllDoneOnce(world, emails);
    const { rows } = await setup.database.pool.query(
      "select count(*)::integer as grants, count(distinct wallet_id)::integer as wallets from grants",
    );
    expect(rows).toEqual([{ grants: people.length + buyers.length, wallets: people.length + buyers.length }]);
    for (const { email } of [...people, ...buyers])
      expect((await mailsTo(world, email)).sort()).toEqual(["Confirm your email address", "Your Starter plan has started"]);
  });

  it.runIf(full)("the mail server: everything else goes on; each mail arrives afterwards, once", { timeout: timeoutMs }, async (test) => {
    const world = await begin(test, "mail");
    const [api = ""] = world.setup.apiUrls;
    const buyers = await Promise.all([world.join(), world.join()]);
    const cashier = new Visitor("", world.stripeUrl);
    const written: string[] = [];
    const emails = await liveThrough(world, "mail", async (turn) => {
      const buyer = buyers[turn];
      // Whoever buys has the credits before the mail about them is sent.
      if (buyer) {
        await cashier.pay(await buyer.checkout());
        await buyer.waitForSubscription(300);
        return;
      }
      const email = `writer-${randomUUID()}@example.com`;
      const headers = {
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        "x-forwarded-for": `10.3.${turn % 256}.${randomInt(256)}`,
      };
      const body = JSON.stringify({ name: "Ada", email, category: "bug", message: "It broke", language: "en" });
      expect((await fetch(`${api}/api/contact`, { method: "POST", headers, body })).status).toBe(202);
      written.push(email);
      // Beyond thirty a minute, messages are mailed to nobody, and the sandbox lists only two hundred mails of a mailbox.
      await pause(12_000);
    });
    await expectAllDoneOnce(world, [...emails, ...written]);
    for (const { email } of buyers)
      expect((await mailsTo(world, email)).sort()).toEqual(["Confirm your email address", "Your Starter plan has started"]);
    expect(await mailsTo(world, "team@tessera.example")).toHaveLength(written.length);
  });

  it.runIf(full)(
    "a model's provider: everything else goes on; its answers fail free of charge, or are told once it speaks",
    {
      timeout: timeoutMs,
    },
    async (test) => {
      const world = await begin(test, "models");
      const askers = await Promise.all(Array.from({ length: 5 }, world.join));
      const cashier = new Visitor("", world.stripeUrl);
      for (const asker of askers) await cashier.pay(await asker.checkout());
      await Promise.all(askers.map((asker) => asker.waitForSubscription(300)));
      const ends: (readonly [string | undefined, string | null | undefined, number | null | undefined])[] = [];
      let refused = 0;
      const ask = async (turn: number) => {
        const asker = askers[turn % askers.length] as Visitor;
        const { receipt } = await asker.ask({ model: models.silent }).catch(async (error: unknown) => {
          // After five failures in a row the model is not asked for a while.
          if (!String(error).includes("model_unavailable")) throw error;
          refused += 1;
          // Refused questions count towards the plan's rate of ten a minute.
          await pause(7_000);
          return { receipt: undefined };
        });
        if (receipt) ends.push([receipt.status, receipt.failureCode, receipt.chargedCredits]);
        return receipt?.status === "completed";
      };
      const emails = await liveThrough(world, "models", async (turn) => void (await ask(turn)));
      await until(() => ask(0), "an answer, once the provider speaks", 180_000);
      const answered = ends.filter(([status, failure, credits]) => status === "completed" && failure === null && credits === 1);
      const givenUp = ends.filter(([status, failure, credits]) => status === "failed" && failure === "provider_timeout" && credits === 0);
      expect(answered.length + givenUp.length).toBe(ends.length);
      expect(answered.length).toBeGreaterThan(0);
      if (full) expect(givenUp.length).toBeGreaterThan(0);
      expect(refused).toBeGreaterThan(0);
      await expectAllDoneOnce(world, emails);
      const spent = (await Promise.all(askers.map((asker) => asker.wallet()))).map(({ available }) => 300 - available);
      expect(spent.reduce((sum, credits) => sum + credits, 0)).toBe(answered.length);
      expect((await (askers[0] as Visitor).ask({ model: models.silent })).receipt).toMatchObject({
        status: "completed",
        chargedCredits: 1,
      });
    },
  );
});
