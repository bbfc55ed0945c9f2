/** A model that fails again and again is not asked for a while. */
import { expect, it } from "vitest";
import { CircuitBreaker } from "#server/providers/models/circuit-breaker.ts";

function withClock() {
  const clock = { nowMs: 1_000 };
  const breaker = new CircuitBreaker(() => clock.nowMs);
  /** Does what an answer does: asks how long to wait and, if that is 0, makes the call. */
  const ask = (key: string, person = "Ada") => {
    const waitMs = breaker.waitMs(key, person);
    if (waitMs === 0) breaker.asked(key, person);
    return waitMs;
  };
  const fail = (times: number, people = ["Ada", "Bo", "Cem"]) => {
    for (let count = 0; count < times; count += 1) breaker.failed("one", people[count % people.length] ?? "");
  };
  return { clock, breaker, fail, ask };
}

it("is asked through four failures in a row, and through any number that a success interrupts", () => {
  const { breaker, fail, ask } = withClock();
  for (let round = 0; round < 10; round += 1) {
    fail(4);
    expect(ask("one")).toBe(0);
    breaker.worked("one");
  }
});

it("is not asked for ten seconds after the fifth, and another model is", () => {
  const { clock, fail, ask } = withClock();
  fail(5);
  expect(ask("one")).toBe(10_000);
  expect(ask("other")).toBe(0);
  clock.nowMs += 9_999;
  expect(ask("one")).toBe(1);
});

it("is asked by one caller after the pause, and by everybody once that one has an answer", () => {
  const { clock, breaker, fail, ask } = withClock();
  fail(5);
  clock.nowMs += 10_000;
  expect(ask("one")).toBe(0);
  expect(ask("one")).toBe(10_000);
  breaker.worked("one");
  expect(ask("one")).toBe(0);
});

it("rests for twice as long after each try that fails, up to two minutes; failures of answers begun before change nothing", () => {
  const { clock, fail, ask } = withClock();
  fail(50);
  for (const pauseMs of [10_000, 20_000, 40_000, 80_000, 120_000, 120_000]) {
    expect(ask("one")).toBe(pauseMs);
    clock.nowMs += pauseMs;
    expect(ask("one")).toBe(0);
    fail(10);
  }
});

it("is tried by somebody else after another pause, if the first try tells nothing", () => {
  const { clock, fail, ask } = withClock();
  fail(5);
  clock.nowMs += 10_000;
  expect(ask("one")).toBe(0);
  clock.nowMs += 10_000;
  expect(ask("one")).toBe(0);
});

it("stays free for the next caller if a question is refused before the model is asked", () => {
  const { clock, breaker, fail, ask } = withClock();
  fail(5);
  clock.nowMs += 10_000;
  for (let refused = 0; refused < 10; refused += 1) expect(breaker.waitMs("one", "Ada")).toBe(0);
  expect(ask("one")).toBe(0);
  expect(ask("one")).toBe(10_000);
});

it("is asked for everybody else while the questions of one or two people alone fail, and for nobody once a third one's fails", () => {
  const { clock, breaker, fail, ask } = withClock();
  fail(50, ["Eve"]);
  expect(ask("one", "Eve")).toBe(10_000);
  expect(ask("one", "Ada")).toBe(0);
  breaker.failed("one", "Ada");
  expect(ask("one", "Ada")).toBe(10_000);
  expect(ask("one", "Bo")).toBe(0);
  breaker.failed("one", "Bo");
  expect(ask("one", "Cem")).toBe(10_000);
  clock.nowMs += 10_000;
  expect(ask("one", "Cem")).toBe(0);
  breaker.worked("one");
  expect(["Eve", "Ada", "Bo"].map((person) => ask("one", person))).toEqual([0, 0, 0]);
});
