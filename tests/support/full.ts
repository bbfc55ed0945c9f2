/** Whether this is `npm run test:full`, which has the long variants: every combination, more rounds, the limits of wall time. */
export const full = process.env.TEST_FULL === "1";
