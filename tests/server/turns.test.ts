import { expect, test } from "vitest";
import { Turns } from "#server/features/auth/turns.ts";

/** Creates work that records its start and ends when `endNext` is called, in the order of starting. */
function createWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  const endNext = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, work, endNext };
}

test("callers take turns, however much work one of them has waiting", async () => {
  const turns = new Turns({ atOnce: 1, longestWaitMs: 1_500 });
  const { begun, work, endNext } = createWork();
  const all = ["a1", "a2", "a3", "a4", "b1", "c1", "b2"].map((name) => turns.take(name.slice(0, 1), work(name)));
  for (let round = 0; round < all.length; round += 1) await endNext();
  expect(await Promise.all(all)).toHaveLength(7);
  expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("a full queue refuses the caller with most work waiting, with a time to retry, and accepts the others", async () => {
  const turns = new Turns({ atOnce: 1, longestWaitMs: 500 });
  const { begun, work, endNext } = createWork();
  const outcomes = new Map<string, string>();
  const take = (name: string) =>
    turns.take(name.slice(0, 1), work(name)).then(
      () => outcomes.set(name, "done"),
      (error) => outcomes.set(name, `${error.code} ${error.details.retryAfterSeconds}`),
    );
  // One runs and ten may wait (50 ms each, 500 ms together); the twelfth is refused.
  const flood = Array.from({ length: 12 }, (_, index) => take(`f${index}`));
  await new Promise((resolve) => setImmediate(resolve));
  expect([...outcomes]).toEqual([["f11", "sign_in_busy 1"]]);
  const others = [take("x"), take("y")];
  await new Promise((resolve) => setImmediate(resolve));
  expect([...outcomes.keys()]).toEqual(["f11", "f10", "f9"]);
  for (let round = 0; round < 11; round += 1) await endNext();
  await Promise.all([...flood, ...others]);
  expect(begun.slice(0, 4)).toEqual(["f0", "f1", "x", "y"]);
  expect([...outcomes.values()].filter((outcome) => outcome === "done")).toHaveLength(11);
});

test("work that fails lets the next one run", async () => {
  const turns = new Turns({ atOnce: 1, longestWaitMs: 400 });
  await expect(turns.take("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await turns.take("a", async () => 7)).toBe(7);
});
