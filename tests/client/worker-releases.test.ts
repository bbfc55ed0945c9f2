/** When a service worker removes an earlier release. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { WorkerStage } from "./worker-stubs.ts";
import { stubWorker } from "./worker-stubs.ts";

let stage: WorkerStage;
let earlier: typeof import("#client/sw/caches/earlier.ts");
beforeEach(async () => {
  stage = stubWorker();
  vi.resetModules();
  earlier = await import("#client/sw/caches/earlier.ts");
  await caches.open("assets-other");
  await caches.open("pages-other");
  await earlier.noteEarlier();
});
afterEach(() => vi.unstubAllGlobals());

const others = () => [...stage.stores.keys()].filter((name) => name.endsWith("-other"));

it("an earlier release is removed when no tab uses it", async () => {
  await earlier.dropEarlier();
  expect(others()).toEqual([]);
});

it.each(["installing", "waiting"] as const)(
  "nothing is removed while another release is %s, because it may be the earlier one deployed again",
  async (state) => {
    stage.registration[state] = {};
    await earlier.dropEarlier();
    expect(others()).toEqual(["assets-other", "pages-other"]);
    stage.registration[state] = null;
    await earlier.dropEarlier();
    expect(others()).toEqual([]);
  },
);
