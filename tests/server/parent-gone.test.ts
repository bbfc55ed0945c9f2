/** A part whose supervisor is gone ends by itself, at whatever moment of its start that happened. */
import { fork } from "node:child_process";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "#server/embedded/processes.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { full } from "#tests/support/full.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import { compileCache, root } from "#tests/support/sources.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it.each(["server/main.ts", "worker/main.ts"])("%s", { timeout: 120_000 }, async (entry) => {
  const variables = { PORT: String(await freePort()), NODE_COMPILE_CACHE: compileCache, TESSERA_SUPERVISED: "1" };
  const moments = full ? [0, 1, 200, 500, 1_000, 2_000] : [0];
  const starts = moments.flatMap((goneAfterMs) => [
    { goneAfterMs, ahead: "" },
    { goneAfterMs, ahead: "1" },
  ]);
  const ends = starts.map(async ({ goneAfterMs, ahead }) => {
    const env = { PATH: process.env.PATH, ...testEnvironment(database, variables), TESSERA_AHEAD: ahead };
    const child = fork(path.join(root, entry), [], { env, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const ended = new Promise<boolean>((resolve) => child.once("exit", () => resolve(true)));
    await delay(goneAfterMs);
    child.disconnect();
    const isOver = await Promise.race([ended, delay(60_000).then(() => false)]);
    child.kill("SIGKILL");
    return `${goneAfterMs} ms, ${ahead === "1" ? "ahead" : "at once"}: ${isOver ? "ended" : "left"}`;
  });
  expect((await Promise.all(ends)).filter((end) => end.endsWith("left"))).toEqual([]);
});
