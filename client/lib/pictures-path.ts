import { paths } from "#client/paths.ts";

/** The gallery: a section of the account. */
export const picturesPath = `${paths.profile}/pictures`;
