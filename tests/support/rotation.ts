const turn = Math.floor(Date.now() / 60_000);

/**
 * Whether slow case number `index` of `count` runs: in `npm run test:full` all do, in `npm test` one of them in turn, another
 * with every minute a run begins.
 */
export function hasTurn(index: number, count: number): boolean {
  return process.env.TEST_FULL === "1" || turn % count === index;
}
