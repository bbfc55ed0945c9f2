import { paths, signUpPath } from "#client/paths.ts";

/** Leads to signing up and then to the plans, where a button starts the trial. Not in paths.ts, which every page loads. */
export const trialPath = `${signUpPath}&return=${encodeURIComponent(paths.pricing)}`;
