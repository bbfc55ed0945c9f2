/** What became of an event of Stripe's, as the team sees it. `received`: it waits for its job; `failed`: that job failed for good. */
export const eventStatuses = ["received", "failed", "processed", "ignored", "set_aside", "discarded"] as const;
/** Those that the team can ask for. There are too many of the others. */
export const askedEventStatuses = ["received", "failed", "set_aside", "discarded"] as const;
