/** An API process that stops: it reports "draining", accepts no new connections and answers the open ones. */
import type { IncomingMessage } from "node:http";
import { createServer, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { arrayBuffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import WebSocket from "ws";
import { Draining } from "#server/http/draining.ts";
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

/** Stops this process for some time, as a machine does that has no processor for it. */
function stall(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function silentSocket(to = port): Promise<Socket & { answer: () => string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: to });
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

it("on a starved machine accepts and answers every connection that was made before the listener closed", async () => {
  // The event loop accepts one connection a turn, so this is longer than a second of waiting connections.
  let accepted = 0;
  world.app.server.on("connection", () => {
    accepted += 1;
    stall(60);
  });
  draining = world.app.drain(8_000);
  const acceptedAtEnds: number[] = [];
  const answers = Array.from({ length: 24 }, async () => {
    const socket = await silentSocket();
    const ended = new Promise<string>((resolve) => {
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)));
      socket.once("end", () => {
        acceptedAtEnds.push(accepted);
        resolve(socket.answer().slice(0, 12));
      });
    });
    socket.write("POST /api/functions/reliable-subscription-check HTTP/1.1\r\nHost: tessera.test\r\nContent-Length: 0\r\n\r\n");
    return ended;
  });
  expect(await Promise.all(answers)).toEqual(answers.map(() => "HTTP/1.1 401"));
  // Before the listener closes it only accepts, which is quicker. In the 200 ms before that it answers too.
  expect(acceptedAtEnds.filter((count) => count > 12 && count < 24)).toEqual([]);
  await until(refused, "the listener to be closed");
});

it("closes no kept connection on which a request has arrived that the process had no time to read", async () => {
  let finishFirst = () => {};
  const server = createServer((asked, response) => {
    if (asked.url === "/first") {
      response.writeHead(200, { "content-length": "5" }).flushHeaders();
      finishFirst = () => response.end("first");
    } else response.end("second");
  });
  const kept = new Draining(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = await silentSocket((server.address() as AddressInfo).port);
  socket.write(ask("/first"));
  await until(() => socket.answer().includes("\r\n\r\n"), "the beginning of the first answer");
  const closing = kept.drain(2_000);
  await until(() => !server.listening, "the listener to be closed");
  socket.on("data", () => {
    if (!socket.answer().endsWith("first")) return;
    socket.write(ask("/second"));
    stall(300);
  });
  finishFirst();
  await until(() => socket.destroyed || socket.answer().includes("second"), "the second answer");
  expect(socket.answer()).toContain("second");
  socket.destroy();
  await closing;
});

it("lets a slow client receive a large response to its end", async () => {
  const body = Buffer.alloc(16_000_000, "a");
  const server = createServer((_asked, response) => response.end(body));
  const draining = new Draining(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const asked = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).end();
  const response = await new Promise<IncomingMessage>((resolve) => asked.once("response", resolve));
  const closing = draining.drain(8_000);
  await until(() => !server.listening, "the listener to be closed");
  const received = await arrayBuffer(response).catch((error: NodeJS.ErrnoException) => error.code);
  expect(received).toHaveProperty("byteLength", body.length);
  await closing;
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
