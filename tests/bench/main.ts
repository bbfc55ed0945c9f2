/** `npm run bench`: prints one line per figure, ours next to a baseline measured in the same run. */
import { spawnSync } from "node:child_process";
import { benchLedger } from "./ledger.ts";
import { measureMemory, reportMemory } from "./memory.ts";
import { measureRetention, reportRetention } from "./retention.ts";
import { measureScale, reportScale } from "./scale.ts";
import { measureFirstText, measureStreaming, reportFirstText } from "./streaming.ts";
import type { BenchServer } from "./support.ts";
import { report, startBenchServer } from "./support.ts";
import { benchWebhook } from "./webhook.ts";

/** Runs each benchmark on its own PostgreSQL, so that it finds no data from another one. */
async function onServer<T>(measure: (server: BenchServer) => Promise<T>): Promise<T> {
  const server = await startBenchServer();
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

if (spawnSync("pgbench", ["--version"]).error) {
  console.log("hold + capture: not measured, for pgbench is missing; install it (Debian: apt-get install -y postgresql)");
} else {
  for (const ratio of await onServer(benchLedger)) report(ratio);
}
report(await onServer(benchWebhook));
for (const ratio of await measureStreaming()) report(ratio);
for (const measured of await measureFirstText()) reportFirstText(measured);
for (const figures of await onServer(measureRetention)) reportRetention(figures);
reportMemory(await onServer(measureMemory));
for (const figure of await measureScale()) reportScale(figure);
