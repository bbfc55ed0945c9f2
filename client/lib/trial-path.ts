import { paths, signUpPath } from "#client/paths.ts";

/** Leads to the trial: after signing up, or in, the page of plans has the button that starts it. Apart from the paths that every page loads. */
export const trialPath = `${signUpPath}&return=${encodeURIComponent(paths.pricing)}`;
