import { paths } from "#client/paths.ts";

/** Not among the paths, so that pages which never lead there don't load it. */
export const securityPath = `${paths.profile}/security`;
