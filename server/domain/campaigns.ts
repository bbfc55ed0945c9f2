/**
 * For whom a discount campaign is:
 *
 * - **new**: whoever has never paid, visitors too.
 * - **left**: whoever paid for a plan that ended at least the given days ago, and has none now. Once in a campaign, so that nobody leaves
 *   and comes back for the discount.
 */
export const campaignAudiences = ["new", "left"] as const;
export type CampaignAudience = (typeof campaignAudiences)[number];

/** How many days ago the plan of somebody who left must have ended. */
export const endedDaysLimits = { min: 1, max: 730, usual: 30 } as const;
