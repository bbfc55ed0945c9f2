import { defineConfig } from "vitest/config";
import { contentPlugin } from "./client/content-plugin.ts";
import { Sequencer } from "./tests/support/sequencer.ts";

export default defineConfig(({ mode }) => ({
  plugins: [contentPlugin()],
  test: {
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    environment: "node",
    globalSetup: ["tests/support/global-setup.ts"],
    // One more than the two cores: half of the time is waiting for browsers, mails and processes that start again.
    maxWorkers: 3,
    maxConcurrency: 3,
    sequence: { sequencer: Sequencer },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Waits end with their condition; only a busy machine comes near this.
    expect: { poll: { timeout: 15_000, interval: 50 } },
    env: mode === "full" ? { TEST_FULL: "1" } : {},
  },
}));
