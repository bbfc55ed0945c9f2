import { paths } from "#client/paths.ts";

/** Invoices and payments, a section of the account. */
export const billingPath = `${paths.profile}/billing`;
