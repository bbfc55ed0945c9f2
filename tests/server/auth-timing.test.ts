/** Nobody learns from the time of an answer whether an address has an account. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp, password, randomAddress } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp();
});
afterAll(() => product.close());

/** How far answers to sign-up and recovery are put off at least (asked-mails.ts). */
const evenAnswerMs = 60;

const calls = {
  "sign-in": (email: string) => product.post("/api/auth/sign-in", { email, password: "wrong pass 1" }, { remoteAddress: randomAddress() }),
  "sign-up": (email: string) => product.post("/api/auth/sign-up", { email, password }, { remoteAddress: randomAddress() }),
  recover: (email: string) => product.post("/api/auth/recover", { email }, { remoteAddress: randomAddress() }),
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
  for (const call of ["sign-up", "recover"] as const) {
    // Timers fire up to a millisecond early.
    for (const email of ["quick@example.com", `nobody-${call}@example.com`])
      expect(await millisecondsOf(call, email), `${call} ${email}`).toBeGreaterThanOrEqual(evenAnswerMs - 1);
  }
});

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const quantile = (values: readonly number[], part: number) => sorted(values)[Math.floor((values.length - 1) * part)] ?? 0;

test.runIf(process.env.TEST_FULL)("medians of known and unknown addresses are as near as the noise, over forty pairs", async () => {
  await product.join("measured@example.com");
  const pairs = 40;
  for (const call of Object.keys(calls) as Call[]) {
    const [known, unknown]: [number[], number[]] = [[], []];
    await millisecondsOf(call, "warm-up@example.com");
    for (let round = 0; round < pairs; round += 1) {
      const ofKnown = async () => known.push(await millisecondsOf(call, "measured@example.com"));
      const ofUnknown = async () => unknown.push(await millisecondsOf(call, `${call}-${round}@example.com`));
      // Whoever comes second may find things warm: they take turns.
      for (const measure of round % 2 === 0 ? [ofKnown, ofUnknown] : [ofUnknown, ofKnown]) await measure();
    }
    const [a, b] = [quantile(known, 0.5), quantile(unknown, 0.5)];
    const noise = Math.max(...[known, unknown].map((values) => quantile(values, 0.75) - quantile(values, 0.25)));
    console.info(`${call}: known ${a.toFixed(1)} ms, unknown ${b.toFixed(1)} ms, noise ${noise.toFixed(1)} ms, ${pairs} pairs`);
    // A tenth, should a quiet machine have hardly any noise.
    expect(Math.abs(a - b), call).toBeLessThan(Math.max(noise, a / 10));
  }
});
