/** An API process that stops: it reports "draining", accepts no new connections and answers the open ones. */
import { request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import WebSocket from "ws";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import { until } from "#tests/support/until.ts";

let world: ApiWorld;
let port: number;
let draining: Promise<void> | undefined;
beforeEach(async () => {
  world = await startApiWorld({ PUBLIC_URL: "http://tessera.test" });
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  port = (world.app.server.address() as AddressInfo).port;
  draining = undefined;
});
afterEach(async () => {
  await world.close();
  await draining;
});

function silentSocket(): Promise<Socket & { answer: () => string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.on("data", (data) => {
      text += data.toString();
    });
    socket.once("error", reject);
    socket.once("connect", () => resolve(Object.assign(socket, { answer: () => text })));
  });
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: tessera.test\r\n\r\n`;
const refused = () =>
  new Promise<boolean>((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path: "/healthz", agent: false }, () => resolve(false));
    sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"));
    sent.end();
  });

it("reports draining first, then refuses new connections, answers open ones and closes each after its answer", async () => {
  const early = await silentSocket();
  const notice = await silentSocket();
  draining = world.app.drain(20_000);
  notice.write(ask("/readyz"));
  await until(() => notice.answer().includes("draining"), "the process to say that it is leaving");
  expect(notice.answer()).toMatch(/^HTTP\/1\.1 503[\s\S]*connection: close/i);
  await until(refused, "the listener to be closed");
  early.write(ask("/api/models"));
  await until(() => early.destroyed || early.answer().includes("\r\n0\r\n") || early.readableEnded, "the answer");
  expect(early.answer()).toMatch(/^HTTP\/1\.1 200[\s\S]*connection: close/i);
  await draining;
});

it("closes WebSockets with 1012, so that pages reconnect to another process", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/realtime`, { origin: "http://tessera.test" });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await new Promise((resolve) => socket.once("open", resolve));
  draining = world.app.drain(1_000);
  expect(await closed).toBe(1012);
});

it("refuses requests after the drain with a problem document and Retry-After", async () => {
  const late = await silentSocket();
  await world.app.drain(40);
  const closing = world.app.close();
  late.write(ask("/api/models"));
  await until(() => late.answer().includes("service_unavailable"), "the refusal");
  expect(late.answer()).toMatch(/^HTTP\/1\.1 503[\s\S]*retry-after: \d+[\s\S]*application\/problem\+json/i);
  late.destroy();
  await closing;
});
