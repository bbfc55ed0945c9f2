/** The weight of every route, relative to a hello world built in the same run (CONTRIBUTING.md, "Page size"). */
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hashSources, readStamp } from "#client/build/sources.ts";
import { weighFloor } from "#tests/bench/client/floor.ts";
import type { PageWeight } from "#tests/bench/client/page-weights.ts";
import { faultsOf, weighPages } from "#tests/bench/client/page-weights.ts";
import { root } from "#tests/support/sources.ts";

const folder = path.join(root, "client/dist");

describe("what a page weighs", () => {
  let weights: PageWeight[];
  let floorBytes: number;

  beforeAll(async () => {
    // Fail on an old build, whose figures would be wrong.
    expect(await readStamp(folder), "client/dist is not built of these sources: npm run build").toBe(await hashSources(root));
    [weights, floorBytes] = [await weighPages(folder), await weighFloor()];
  }, 120_000);

  it("stays within its limits in every language: scripts, styles and texts", () => {
    expect(weights.length).toBeGreaterThan(200);
    expect(weights.flatMap((page) => faultsOf(page, floorBytes))).toEqual([]);
  });

  it("is reported when it is too much", () => {
    const contact = weights.find(({ address }) => address === "/contact");
    const home = weights.find(({ address }) => address === "/");
    expect(contact && faultsOf({ ...contact, scriptBytes: floorBytes * 1.38 }, floorBytes)).toHaveLength(1);
    expect(home && faultsOf({ ...home, scriptBytes: floorBytes * 1.21 }, floorBytes)).toHaveLength(1);
    expect(home && faultsOf({ ...home, wokenBytes: floorBytes * 1.41 }, floorBytes)).toHaveLength(1);
    expect(home && faultsOf({ ...home, styleBytes: floorBytes * 0.21, textBytes: 15_001 }, floorBytes)).toHaveLength(2);
  });
});
