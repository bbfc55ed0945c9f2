/** `npm run bench`: one line a figure of acceptance.md, "Speed and size", both sides measured in this run. */
import { spawnSync } from "node:child_process";
import { benchLedger } from "./ledger.ts";
import { measureMemory, reportMemory } from "./memory.ts";
import { measureFirstText, measureStreaming, reportFirstText } from "./streaming.ts";
import type { BenchServer } from "./support.ts";
import { report, startBenchServer } from "./support.ts";
import { benchWebhook } from "./webhook.ts";

/** Each on a PostgreSQL of its own, so that none finds what another left. */
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
  report(await onServer(benchLedger));
}
report(await onServer(benchWebhook));
for (const ratio of await measureStreaming()) report(ratio);
for (const measured of await measureFirstText()) reportFirstText(measured);
reportMemory(await onServer(measureMemory));
