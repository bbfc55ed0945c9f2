/**
 * `npm run bench`: prints one line per figure, ours next to a baseline measured in the same run. `npm run bench -- ledger scale` runs only
 * those benchmarks.
 */
import { spawnSync } from "node:child_process";
import { benchLedger, reportLedger } from "./ledger.ts";
import { measureMemory, reportMemory } from "./memory.ts";
import { measureRetention, reportRetention } from "./retention.ts";
import { measureScale, prepareScale, reportScale } from "./scale.ts";
import { measureFirstText, measureStreaming, reportFirstText } from "./streaming.ts";
import type { BenchServer } from "./support.ts";
import { report, startBenchServer } from "./support.ts";
import { benchWebhook } from "./webhook.ts";

/** Runs a benchmark on its own PostgreSQL, so that it finds no data from another one. */
async function onServer<T>(measure: (server: BenchServer) => Promise<T>): Promise<T> {
  const server = await startBenchServer();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  async ledger() {
    if (spawnSync("pgbench", ["--version"]).error) {
      console.log("hold + capture: not measured, for pgbench is missing; install it (Debian: apt-get install -y postgresql)");
      return;
    }
    reportLedger(await onServer(benchLedger));
  },
  async webhook() {
    report(await onServer(benchWebhook));
  },
  async streaming() {
    for (const ratio of await measureStreaming()) report(ratio);
  },
  async "streaming-responses"() {
    for (const ratio of await measureStreaming("openai-responses")) report(ratio);
  },
  async "streaming-messages"() {
    for (const ratio of await measureStreaming("anthropic-messages")) report(ratio);
  },
  async "first-text"() {
    for (const measured of await measureFirstText()) reportFirstText(measured);
  },
  async retention() {
    for (const figures of await onServer(measureRetention)) reportRetention(figures);
  },
  async memory() {
    reportMemory(await onServer(measureMemory));
  },
  /** Makes the data of `scale` where they are missing, which takes long, and measures nothing. */
  "scale-data": prepareScale,
  /** Not among those that run without a name. */
  async "scale-small"() {
    await measureScale("small", reportScale);
  },
  async scale() {
    await measureScale("full", reportScale);
  },
};

const names = Object.keys(benchmarks);
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(", ")}; there are: ${names.join(", ")}`);
  process.exitCode = 1;
} else {
  for (const name of asked.length > 0 ? asked : names.filter((each) => each !== "scale-small")) await benchmarks[name]?.();
}
