/** The credits that a limit of a person's own spending can be: an answer costs at least one, and zero asks about each that costs any. */
export const spendingBounds = { lowestCap: 1, lowestAsk: 0, highest: 1_000_000 } as const;

/** The shares of a month's plan credits at which a person can be told. Everybody begins with `defaultAlertPercent` (migration 0061). */
export const alertPercents = [50, 75, 80, 90, 95] as const;
export type AlertPercent = (typeof alertPercents)[number];
export const defaultAlertPercent: AlertPercent = 80;
