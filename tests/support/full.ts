/** Whether this is `npm run test:full`, which has the long variants: every combination, more rounds, the limits of wall time. */
export const full = process.env.TEST_FULL === "1";

const today = Math.floor(Date.now() / 86_400_000);

/** In `npm test` so many of the cases, each day other ones, so that a failure can be repeated the same day; in `npm run test:full` all. */
export function daily<Case>(cases: readonly Case[], count = 1): readonly Case[] {
  if (full || cases.length <= count) return cases;
  return Array.from({ length: count }, (_, index) => cases[(today * count + index) % cases.length] as Case);
}
