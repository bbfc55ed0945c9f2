/** Measures the memory of one API process with 1,000 open WebSockets and 500 streaming answers. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import Fastify from "fastify";
import { WebSocket } from "ws";
import { createModelServer } from "#sandbox/models/plugin.ts";
import { until } from "#tests/support/until.ts";
import type { BenchServer } from "./support.ts";
import { createTokens, endChildren, startApi } from "./world.ts";

const openSockets = 1_000;
const streams = 500;
const people = 250;
const targetMegabytes = 300;
/** Slow enough that every answer still streams when the last one starts. */
const tokenMs = 500;
const flowMs = 5_000;
const settleTimeoutMs = 120_000;

function residentMegabytes(pid: number): number {
  if (process.platform !== "linux") return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1_024;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

/** Callers use different addresses; otherwise the rate limit per address would refuse most of them. */
function addressOf(number: number): string {
  return `127.0.1.${1 + (number % people)}`;
}

function listen(port: number, token: string, number: number, onReady: () => void): WebSocket {
  const origin = `http://127.0.0.1:${port}`;
  const socket = new WebSocket(`${origin.replace("http", "ws")}/api/realtime`, { headers: { origin }, localAddress: addressOf(number) });
  socket.on("open", () => socket.send(JSON.stringify({ type: "authenticate", access_token: token })));
  socket.once("message", onReady);
  socket.on("error", () => {});
  return socket;
}

function ask(port: number, token: string, number: number, agent: http.Agent, told: { onText(): void; onEnd(): void }): void {
  const body = JSON.stringify({ model: "gpt-6-luna", prompt: "What is a tessera?", quotedCredits: 1 });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "idempotency-key": randomUUID(),
  };
  const options = { port, host: "127.0.0.1", localAddress: addressOf(number), path: "/api/generations", method: "POST", headers, agent };
  const request = http.request(options, (response) => {
    let streaming = false;
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      if (!streaming && text.includes("event: delta")) told.onText();
      streaming ||= text.includes("event: delta");
    });
    response.on("error", () => {});
    response.on("end", () => told.onEnd());
  });
  request.on("error", () => {});
  request.end(body);
}

/** The resident memory of the API process in megabytes, with all connections open. */
export async function measureMemory(server: BenchServer): Promise<number> {
  const models = createModelServer({ now: () => new Date(0) });
  models.pace.milliseconds = tokenMs;
  const provider = Fastify({ forceCloseConnections: true });
  await provider.register(models.plugin, { prefix: "/providers" });
  const providerUrl = await provider.listen({ host: "127.0.0.1", port: 0 });
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const sockets: WebSocket[] = [];
  try {
    const tokens = await createTokens(server, people);
    const product = await startApi(server, { OPENAI_API_KEY: "bench", OPENAI_BASE_URL: `${providerUrl}/providers/openai/v1` });
    let ready = 0;
    for (let number = 0; number < openSockets; number += 1) {
      sockets.push(
        listen(product.port, tokens[number % people] ?? "", number, () => {
          ready += 1;
        }),
      );
    }
    await until(() => ready === openSockets, `${openSockets} open sockets`, settleTimeoutMs);
    let begun = 0;
    let ended = 0;
    for (let number = 0; number < streams; number += 1) {
      ask(product.port, tokens[number % people] ?? "", number, agent, {
        onText: () => {
          begun += 1;
        },
        onEnd: () => {
          ended += 1;
        },
      });
    }
    await until(() => begun === streams, `${streams} streams`, settleTimeoutMs);
    // Measure the steady state: all answers have started and all still stream.
    await delay(flowMs);
    if (ended > 0 || sockets.some((socket) => socket.readyState !== socket.OPEN)) throw new Error("not all stayed open");
    return residentMegabytes(product.pid);
  } finally {
    for (const socket of sockets) socket.terminate();
    agent.destroy();
    await endChildren();
    await provider.close();
  }
}

export function reportMemory(megabytes: number): void {
  const verdict = megabytes <= targetMegabytes ? "reached" : "MISSED";
  console.log(
    `${openSockets} open WebSockets and ${streams} streams in one API process: ${megabytes.toFixed(0)} MB resident (≤ ${targetMegabytes}) ${verdict}`,
  );
}
