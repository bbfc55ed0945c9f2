/** Starts a Redis server for one test on a free port, without persistence. */
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
  });
}

/** Give `port` to restart Redis on the same address after an outage. */
export async function startRedis(port?: number): Promise<TestRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-test-redis-"));
  const chosen = port ?? (await freePort());
  const child = spawn(
    "redis-server",
    ["--port", String(chosen), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"],
    {
      stdio: "ignore",
    },
  );
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  // Ends the server when the test run is aborted.
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const timeoutMs = 10_000;
  if (!(await waitUntil(() => child.exitCode !== null || answers(chosen), timeoutMs)) || child.exitCode !== null) {
    end();
    throw new Error(`redis-server did not start on port ${chosen}`);
  }
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
