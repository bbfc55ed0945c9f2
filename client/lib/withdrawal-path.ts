import { paths } from "#client/paths.ts";

/** Where a person withdraws from a contract: a panel among invoices and payments. */
export const withdrawalId = "withdrawal";
export const withdrawalPath = `${paths.profile}/billing#${withdrawalId}`;
