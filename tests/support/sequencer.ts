import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Alternates files that mostly wait with browser tests, which mostly compute, and starts both first, so that none runs alone at the end. */
const waiting = /\/tests\/(faults|worker)\//;
const browsing = /\/tests\/e2e\//;

function alternating<Item>(one: readonly Item[], other: readonly Item[]): Item[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined);
}

export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = sorted.filter(({ moduleId }) => waiting.test(moduleId));
    const browses = sorted.filter(({ moduleId }) => browsing.test(moduleId));
    const rest = sorted.filter((file) => !waits.includes(file) && !browses.includes(file));
    return [...alternating(waits, browses), ...rest];
  }
}
