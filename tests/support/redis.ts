/** Starts a Redis server for one test on a free port, without persistence. */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort, waitUntil } from "#server/embedded/processes.ts";

export interface TestRedis {
  url: string;
  port: number;
  stop(): Promise<void>;
  /** Stops the process (SIGSTOP): connections stay open but Redis does not answer until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Kills Redis with -9; its data is lost because nothing is persisted. */
  kill(): Promise<void>;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
    socket.once("error", () => resolve(false));
    // Whoever has taken the port may never answer.
    socket.setTimeout(1_000, () => {
      socket.destroy();
      resolve(false);
    });
  });
}

const startTimeoutMs = 30_000;
const tries = 5;

/** Undefined if it ended at once: between the choice of a free port and its use another process may take it. */
async function tryStart(port: number, folder: string): Promise<ChildProcess | undefined> {
  const child = spawn(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"],
    {
      stdio: "ignore",
    },
  );
  child.once("error", () => {});
  const ended = () => child.exitCode !== null || child.pid === undefined;
  const started = await waitUntil(() => ended() || answers(port), startTimeoutMs);
  if (started && !ended()) return child;
  child.kill("SIGKILL");
  return undefined;
}

async function startSomewhere(folder: string): Promise<{ child: ChildProcess; port: number }> {
  for (let count = 0; count < tries; count += 1) {
    const port = await freePort();
    const child = await tryStart(port, folder);
    if (child) return { child, port };
  }
  throw new Error(`redis-server did not start on any of ${tries} ports`);
}

async function startAt(port: number, folder: string): Promise<{ child: ChildProcess; port: number }> {
  const child = await tryStart(port, folder);
  if (!child) throw new Error(`redis-server did not start on port ${port}`);
  return { child, port };
}

/** Give `given` to restart Redis on the same port after an outage. */
export async function startRedis(given?: number): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-test-redis-"));
  const { child, port: chosen } = await (given === undefined ? startSomewhere(folder) : startAt(given, folder));
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  // Ends the server when the test run is aborted.
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const endWith = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    child.kill("SIGCONT");
    await exited;
    process.off("exit", end);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    stop: () => endWith("SIGTERM"),
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    kill: () => endWith("SIGKILL"),
  };
}
