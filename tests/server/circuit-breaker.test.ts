/** A model that fails again and again is not asked for a while. */
import { expect, it } from "vitest";
import { CircuitBreaker } from "#server/providers/models/circuit-breaker.ts";

function withClock() {
  const clock = { nowMs: 1_000 };
  const breaker = new CircuitBreaker(() => clock.nowMs);
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) breaker.failed("one");
  };
  return { clock, breaker, fail };
}

it("is asked through four failures in a row, and through any number that a success interrupts", () => {
  const { breaker, fail } = withClock();
  for (let round = 0; round < 10; round += 1) {
    fail(4);
    expect(breaker.takeTurn("one")).toBe(0);
    breaker.worked("one");
  }
});

it("is not asked for ten seconds after the fifth, and another model is", () => {
  const { clock, breaker, fail } = withClock();
  fail(5);
  expect(breaker.takeTurn("one")).toBe(10_000);
  expect(breaker.takeTurn("other")).toBe(0);
  clock.nowMs += 9_999;
  expect(breaker.takeTurn("one")).toBe(1);
});

it("is asked by one caller after the pause, and by everybody once that one has an answer", () => {
  const { clock, breaker, fail } = withClock();
  fail(5);
  clock.nowMs += 10_000;
  expect(breaker.takeTurn("one")).toBe(0);
  expect(breaker.takeTurn("one")).toBe(10_000);
  breaker.worked("one");
  expect(breaker.takeTurn("one")).toBe(0);
});

it("rests for twice as long after each try that fails, up to two minutes; failures of answers begun before change nothing", () => {
  const { clock, breaker, fail } = withClock();
  fail(50);
  for (const pauseMs of [10_000, 20_000, 40_000, 80_000, 120_000, 120_000]) {
    expect(breaker.takeTurn("one")).toBe(pauseMs);
    clock.nowMs += pauseMs;
    expect(breaker.takeTurn("one")).toBe(0);
    fail(10);
  }
});

it("is tried by somebody else after another pause, if the first try tells nothing", () => {
  const { clock, breaker, fail } = withClock();
  fail(5);
  clock.nowMs += 10_000;
  expect(breaker.takeTurn("one")).toBe(0);
  clock.nowMs += 10_000;
  expect(breaker.takeTurn("one")).toBe(0);
});
