/** The credits that a limit of a person's own spending can be: an answer costs at least one, and zero asks about each that costs any. */
export const spendingBounds = { lowestCap: 1, lowestAsk: 0, highest: 1_000_000 } as const;
