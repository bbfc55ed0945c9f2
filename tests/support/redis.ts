/** A Redis server of one's own on a free port, without persistence. */
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
  /** kill -9: what it held is gone, for nothing of it is kept. */
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

/** `port`: to come back on the same address after an outage. */
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
  // A run that is broken off leaves no server.
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const timeoutMs = 10_000;
  if (!(await waitUntil(() => child.exitCode !== null || answers(chosen), timeoutMs)) || child.exitCode !== null) {
    end();
    throw new Error(`redis-server did not start on port ${chosen}`);
  }
  const endWith = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    process.off("exit", end);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    stop: () => endWith("SIGTERM"),
    kill: () => endWith("SIGKILL"),
  };
}
