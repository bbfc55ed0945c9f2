/** How many credits go back with returned money. */

/**
 * Of each grant of a charge, the credits that all returns together take. The grants are in the order in which they are taken: of an annual
 * plan the last month first, so that months to come go before months that were used. Together it is
 * floor(credits × returned ÷ paid), and never more than was granted.
 */
export function creditsToTake(grants: readonly number[], returnedCents: number, paidCents: number): number[] {
  const granted = grants.reduce((sum, credits) => sum + credits, 0);
  let open = Number((BigInt(granted) * BigInt(Math.min(returnedCents, paidCents))) / BigInt(paidCents));
  return grants.map((credits) => {
    const taken = Math.min(credits, open);
    open -= taken;
    return taken;
  });
}
