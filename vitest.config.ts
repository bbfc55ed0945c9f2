import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { contentPlugin } from "./client/content-plugin.ts";
import { Sequencer } from "./tests/support/sequencer.ts";
import { temporaryFolder } from "./tests/support/temporary-folder.ts";
import { filesAtRest } from "./tests/support/turns.ts";

process.env.TMPDIR = temporaryFolder();

/** They run in a process each: UUIDv7s, which grow with the process's clock, don't go back when it does. */
const movingTheClock = globSync("tests/{server,worker,sandbox}/**/*.test.ts").filter((file) =>
  /useFakeTimers|setSystemTime/.test(readFileSync(file, "utf8")),
);

/** They share a browser; the client's modules that they import keep no state. */
const clientInBrowser = globSync("tests/client/*.test.{ts,tsx}").filter((file) =>
  /from "\.\/(frame|states)-support\.ts"/.test(readFileSync(file, "utf8")),
);

export default defineConfig(({ mode }) => ({
  plugins: [contentPlugin()],
  test: {
    environment: "node",
    projects: [
      // Each process runs many files one after the other, because loading the product once a file takes a third of the time.
      {
        extends: true,
        test: {
          name: "product",
          include: ["tests/{*,!(client)/**/*}.test.ts", ...clientInBrowser],
          exclude: [...movingTheClock, ...filesAtRest(mode === "full", process.argv.slice(2))],
          isolate: false,
        },
      },
      { extends: true, test: { name: "clock", include: movingTheClock } },
      // The client's modules keep their state in the module, and the tests replace the browser's globals.
      { extends: true, test: { name: "client", include: ["tests/client/**/*.test.{ts,tsx}"], exclude: clientInBrowser } },
    ],
    globalSetup: ["tests/support/global-setup.ts"],
    // One more than the cores, because tests also wait for browsers, mails and processes that start again. Two more were no faster.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 2,
    sequence: { sequencer: Sequencer },
    // A fifth less processor time than with 16 MB, since most objects of a test are gone before the young space is full.
    execArgv: ["--max-semi-space-size=64"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Waits end with their condition; only a busy machine comes near this.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    env: mode === "full" ? { TEST_FULL: "1" } : {},
  },
}));
