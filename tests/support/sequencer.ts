import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./sources.ts";

/**
 * The files that take longest, so that none of them runs alone at the end. Those that mostly wait alternate with those that mostly
 * compute.
 */
const longest = [
  "tests/faults/main-job.test.ts",
  "tests/client/states.test.ts",
  "tests/faults/silence.test.ts",
  "tests/e2e/contact-form.test.ts",
  "tests/faults/postgres-main-job.test.ts",
  "tests/e2e/accessibility.test.ts",
  "tests/e2e/hostile-texts.test.ts",
  "tests/faults/postgres.test.ts",
  "tests/server/supervisor.test.ts",
  "tests/worker/jobs.test.ts",
  "tests/server/ledger-model.test.ts",
];
/** Before them in the full run, where they take half an hour and nine minutes. */
const longestInFull = ["tests/server/billing-simulation.test.ts", "tests/server/all-kinds.test.ts"];
const waiting = /\/tests\/(faults|worker)\//;
const browsing = /\/tests\/e2e\//;

function alternating<Item>(one: readonly Item[], other: readonly Item[]): Item[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined);
}

export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = this.ctx.config.env.TEST_FULL === "1" ? [...longestInFull, ...longest] : longest;
    const rank = ({ moduleId }: TestSpecification) => order.indexOf(path.relative(root, moduleId));
    const first = files.filter((file) => rank(file) >= 0).sort((one, other) => rank(one) - rank(other));
    const sorted = (await super.sort(files)).filter((file) => !first.includes(file));
    const waits = sorted.filter(({ moduleId }) => waiting.test(moduleId));
    const browses = sorted.filter(({ moduleId }) => browsing.test(moduleId));
    const rest = sorted.filter((file) => !waits.includes(file) && !browses.includes(file));
    return [...first, ...alternating(waits, browses), ...rest];
  }
}
