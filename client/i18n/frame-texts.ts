import { trialOffered } from "#domain/plans.ts";

/** The namespaces of the frame around every page. `trial` has the few texts of its banner, which is there only while trials are offered. */
export const frameTexts: readonly string[] = trialOffered ? ["common", "trial"] : ["common"];
