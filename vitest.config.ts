import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { contentPlugin } from "./client/content-plugin.ts";
import { Sequencer } from "./tests/support/sequencer.ts";

export default defineConfig(({ mode }) => ({
  plugins: [contentPlugin()],
  test: {
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    environment: "node",
    globalSetup: ["tests/support/global-setup.ts"],
    // One more than the cores: half of the time is waiting for browsers, mails and processes that start again.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 2,
    sequence: { sequencer: Sequencer },
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // Waits end with their condition; only a busy machine comes near this.
    expect: { poll: { timeout: 15_000, interval: 50 } },
    env: mode === "full" ? { TEST_FULL: "1" } : {},
  },
}));
