/** Whether this is `npm run test:full`, which has the long variants: every combination, more rounds, the limits of wall time. */
export const full = process.env.TEST_FULL === "1";

const today = Math.floor(Date.now() / 86_400_000);

/** `npm test` runs `count` of the cases, others each day: a failure can be repeated on the same day. `npm run test:full` runs all. */
export function daily<Case>(cases: readonly Case[], count = 1): readonly Case[] {
  if (full || cases.length <= count) return cases;
  return Array.from({ length: count }, (_, index) => cases[(today * count + index) % cases.length] as Case);
}
