/** Nobody learns from the time of an answer whether an address has an account. */
import { AsyncLocalStorage, createHook } from "node:async_hooks";
import { hash } from "@node-rs/argon2";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { full } from "#tests/support/full.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
let asker: Session;
beforeAll(async () => {
  product = await createAuthApp();
  asker = await product.join("asker@example.com");
});
afterAll(() => product.close());

/** Answers to sign-up, recovery and a change of address take at least this long (asked-mails.ts). */
const evenAnswerMs = 60;

const calls = {
  "sign-in": (email: string) => product.post("/api/auth/sign-in", { email, password: "wrong pass 1" }, { remoteAddress: randomAddress() }),
  "sign-up": (email: string) => product.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() }),
  recover: (email: string) => product.post("/api/auth/recover", { email }, { remoteAddress: randomAddress() }),
  "change-email": (email: string) => {
    const headers = { authorization: `Bearer ${asker.access_token}` };
    return product.post("/api/account/email", { email }, { remoteAddress: randomAddress(), headers });
  },
};
type Call = keyof typeof calls;

async function millisecondsOf(call: Call, email: string): Promise<number> {
  await product.db.deleteFrom("auth_attempts").execute();
  const startedAt = performance.now();
  await calls[call](email);
  return performance.now() - startedAt;
}

test("answers that could tell of an address wait until there was time to write anything", async () => {
  await product.join("quick@example.com");
  for (const call of ["sign-up", "recover", "change-email"] as const) {
    // Timers fire up to a millisecond early.
    for (const email of ["quick@example.com", `nobody-${call}@example.com`])
      expect(await millisecondsOf(call, email), `${call} ${email}`).toBeGreaterThanOrEqual(evenAnswerMs - 1);
  }
});

/** Tells the statements of a call from those that other work of this process sends meanwhile. */
const measured = new AsyncLocalStorage<true>();

/** What answering costs: the statements sent to PostgreSQL, in order, and how often a password was hashed. */
async function workOf(call: () => Promise<unknown>): Promise<{ statements: string[]; hashes: number }> {
  const statements: string[] = [];
  let hashes = 0;
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...parts: unknown[]) {
    const [first] = parts as [string | { text: string }];
    if (measured.getStore()) statements.push((typeof first === "string" ? first : first.text).trim().slice(0, 60));
    return Reflect.apply(query, this, parts);
  } as never);
  // argon2 runs as asynchronous work of a native module, which gives it no name.
  const hook = createHook({
    init(_id, type) {
      if (measured.getStore() && String(type) === "undefined") hashes += 1;
    },
  }).enable();
  await measured.run(true, call);
  hook.disable();
  vi.restoreAllMocks();
  return { statements, hashes };
}
afterEach(() => {
  vi.restoreAllMocks();
});

/** A known address has more, or other, mail to write. It takes few statements, which the even time of the answer hides. */
const statementsMore = { "sign-in": 0, "sign-up": 1, recover: 6, "change-email": 0 } as const;

test("known and unknown addresses cost the same hashes of passwords, and the same statements but for the mail", async () => {
  expect((await workOf(() => hash("x"))).hashes).toBe(1);
  await product.join("worked@example.com");
  for (const call of Object.keys(calls) as Call[]) {
    const work = async (email: string) => {
      await product.db.deleteFrom("auth_attempts").execute();
      return workOf(() => calls[call](email));
    };
    await work(`warm-up-${call}@example.com`);
    const [known, unknown] = [await work("worked@example.com"), await work(`nobody-${call}-2@example.com`)];
    console.info(
      `${call}: known ${known.statements.length} statements and ${known.hashes} hashes, unknown ${unknown.statements.length} and ${unknown.hashes}`,
    );
    expect(known.hashes, call).toBe(unknown.hashes);
    expect(known.hashes, call).toBe({ "sign-in": 2, "sign-up": 1, recover: 0, "change-email": 0 }[call]);
    if (call === "sign-in") expect(known.statements).toEqual(unknown.statements);
    expect(Math.abs(known.statements.length - unknown.statements.length), call).toBeLessThanOrEqual(statementsMore[call]);
  }
});

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const quantile = (values: readonly number[], part: number) => sorted(values)[Math.floor((values.length - 1) * part)] ?? 0;

test.runIf(full)("medians of known and unknown addresses are as near as the noise, over forty pairs", async () => {
  await product.join("measured@example.com");
  const pairs = 40;
  for (const call of Object.keys(calls) as Call[]) {
    const [known, unknown]: [number[], number[]] = [[], []];
    await millisecondsOf(call, "warm-up@example.com");
    for (let round = 0; round < pairs; round += 1) {
      const ofKnown = async () => known.push(await millisecondsOf(call, "measured@example.com"));
      const ofUnknown = async () => unknown.push(await millisecondsOf(call, `${call}-${round}@example.com`));
      // They take turns at being first, because the second may profit from warm caches.
      for (const measure of round % 2 === 0 ? [ofKnown, ofUnknown] : [ofUnknown, ofKnown]) await measure();
    }
    const [a, b] = [quantile(known, 0.5), quantile(unknown, 0.5)];
    const noise = Math.max(...[known, unknown].map((values) => quantile(values, 0.75) - quantile(values, 0.25)));
    console.info(`${call}: known ${a.toFixed(1)} ms, unknown ${b.toFixed(1)} ms, noise ${noise.toFixed(1)} ms, ${pairs} pairs`);
    // A tenth is allowed in any case, because a quiet machine may have hardly any noise.
    expect(Math.abs(a - b), call).toBeLessThan(Math.max(noise, a / 10));
  }
});
