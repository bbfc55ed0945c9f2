/** Calls that are on their way to a batcher, and the statement that waits for them. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Arrivals } from "#server/db/arrivals.ts";
import { createBatcher } from "#server/db/batch.ts";

/** A call that is under way until `arrive` or `fail`. */
function callOf(arrivals: Arrivals) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { expected: arrivals.expect(promise), arrive: () => resolve("here"), fail: () => reject(new Error("refused")) };
}

/** A batcher of names, and the batches that it ran. */
function namesOf(arrivals: Arrivals, limit = 32) {
  const batches: string[][] = [];
  const add = createBatcher({
    ...{ limit, atOnce: 1, arrivals },
    run: async (names: readonly string[]) => {
      batches.push([...names]);
      return names;
    },
  });
  return { add, batches };
}

test("the first statement waits for a call that is on its way, and takes it along", async () => {
  const arrivals = new Arrivals(10_000);
  const { add, batches } = namesOf(arrivals);
  const { expected, arrive } = callOf(arrivals);
  const first = add("first");
  await delay(20);
  expect(batches).toEqual([]);
  const second = expected.then(() => add("second"));
  arrive();
  expect(await Promise.all([first, second])).toEqual(["first", "second"]);
  expect(batches).toEqual([["first", "second"]]);
});

test("a call that fails on its way is not waited for any longer, and gets its own error", async () => {
  const arrivals = new Arrivals(10_000);
  const { add, batches } = namesOf(arrivals);
  const { expected, fail } = callOf(arrivals);
  const first = add("first");
  fail();
  await expect(expected).rejects.toThrow("refused");
  expect(await first).toBe("first");
  expect(batches).toEqual([["first"]]);
});

test("a call that never comes holds nobody up for longer than was said, however many are on their way", async () => {
  const arrivals = new Arrivals(30);
  const { add, batches } = namesOf(arrivals);
  const lost = [callOf(arrivals), callOf(arrivals)];
  for (const name of ["first", "second"]) {
    const before = performance.now();
    expect(await add(name)).toBe(name);
    const waitedMs = performance.now() - before;
    expect(waitedMs).toBeGreaterThanOrEqual(28);
    expect(waitedMs).toBeLessThan(5_000);
    // Wait until the batcher is idle, so that the next name begins a batch of its own.
    await delay(20);
  }
  expect(batches).toEqual([["first"], ["second"]]);
  for (const { arrive } of lost) arrive();
  await arrivals.settled();
});

test("with nobody on the way nobody waits", async () => {
  const arrivals = new Arrivals(60_000);
  expect(await arrivals.expect(Promise.resolve(1))).toBe(1);
  const { add } = namesOf(arrivals);
  const before = performance.now();
  expect(await add("first")).toBe("first");
  expect(performance.now() - before).toBeLessThan(5_000);
});

test("calls that come while statements run don't wait for others, and no statement takes more than its limit", async () => {
  const arrivals = new Arrivals(10_000);
  const { add, batches } = namesOf(arrivals, 2);
  const first = add("1");
  const more = ["2", "3", "4", "5"].map(add);
  expect(await Promise.all([first, ...more])).toEqual(["1", "2", "3", "4", "5"]);
  expect(batches).toEqual([["1", "2"], ["3", "4"], ["5"]]);
});
