import { paths } from "#client/paths.ts";

/** All files that take room: a section of the account. */
export const filesPath = `${paths.profile}/files`;
