import { paths } from "#client/paths.ts";

/** History and usage, a section of the account. */
export const usagePath = `${paths.profile}/usage`;
