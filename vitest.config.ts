import { defineConfig } from "vitest/config";
import { contentPlugin } from "./client/content-plugin.ts";

export default defineConfig(({ mode }) => ({
  plugins: [contentPlugin()],
  test: {
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    environment: "node",
    globalSetup: ["tests/support/global-setup.ts"],
    // Two cores: more at once only makes every wait longer.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Waits end with their condition; only a busy machine comes near this.
    expect: { poll: { timeout: 15_000, interval: 50 } },
    env: mode === "full" ? { TEST_FULL: "1" } : {},
  },
}));
