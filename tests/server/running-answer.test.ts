/** How often the text of an answer under way is told. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { findModel } from "#domain/models.ts";
import type { AnswerStart } from "#server/features/generations/running-answer.ts";
import { RunningAnswer } from "#server/features/generations/running-answer.ts";

const start = { id: "g", model: findModel("gpt-6-luna"), row: { turn: null }, askedAtMs: performance.now() } as AnswerStart;

/** Writes a word every 5 ms for half a second or more: how many events that makes, how long it took, and whether the first came at once. */
async function eventsOf(answersAtOnce: number): Promise<{ events: number; tookMs: number; firstAtOnce: boolean }> {
  const answer = new RunningAnswer(start, () => answersAtOnce);
  answer.add("tessera ");
  const firstAtOnce = answer.feed.frames.length === 2;
  const beganAt = performance.now();
  const until = beganAt + 500;
  let words = 1;
  for (; performance.now() < until; words += 1) {
    await delay(5);
    answer.add("tessera ");
  }
  answer.tellText();
  const tookMs = performance.now() - beganAt;
  // Nothing is lost by it.
  const text = answer.feed.frames.slice(1).map((frame) => (JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as { text: string }).text);
  expect(text.join("")).toBe("tessera ".repeat(words));
  return { events: answer.feed.frames.length - 1, tookMs, firstAtOnce };
}

test("the first text is told at once; what follows shares events, and the more so the more answers are under way", async () => {
  const [alone, many, countless] = [await eventsOf(1), await eventsOf(200), await eventsOf(10_000)];
  for (const { firstAtOnce } of [alone, many, countless]) expect(firstAtOnce).toBe(true);
  // Every 15, 50 and 60 ms at the most often, of which Node's timers may cut a fraction of one, beside the first and the last event.
  expect(alone.events).toBeLessThanOrEqual(alone.tookMs / 14 + 2);
  expect(many.events).toBeLessThanOrEqual(many.tookMs / 49 + 2);
  expect(countless.events).toBeLessThanOrEqual(countless.tookMs / 59 + 2);
  // And never so rarely that the text stands still.
  expect(countless.events).toBeGreaterThanOrEqual(3);
  expect(many.events).toBeLessThan(alone.events);
});
