/** Silent connections from one address don't use up the room for others. */
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import WebSocket from "ws";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import { until } from "#tests/support/until.ts";

const origin = "http://tessera.test";
const perAddress = 100;
let world: ApiWorld;
let port: number;
const open: { destroy(): unknown }[] = [];

beforeAll(async () => {
  // 127.0.0.1 acts as the trusted proxy, every other local address as a caller.
  world = await startApiWorld({ PUBLIC_URL: origin, TRUSTED_PROXIES: "127.0.0.1", CONNECTIONS_PER_ADDRESS: String(perAddress) });
  await world.app.listen({ host: "0.0.0.0", port: 0 });
  port = (world.app.server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});
afterAll(() => world.close());

/** Opens a WebSocket for a caller behind the proxy; resolves with "open" or the status of the refusal. */
function knock(caller: string, opened: (socket: WebSocket) => void = () => {}): Promise<"open" | number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/realtime`, { origin, headers: { "x-forwarded-for": caller } });
    open.push({ destroy: () => socket.terminate() });
    socket.once("open", () => {
      opened(socket);
      resolve("open");
    });
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    socket.on("error", () => resolve(0));
  });
}

/**
 * Expects that of these callers' WebSockets, opened at once, `limit` get in and the rest are refused. On a slow machine the server
 * closes the first of them for their silence before it comes to the last, which then get in: never more than `limit` are open.
 */
async function expectPlaces(limit: number, callers: readonly string[]): Promise<void> {
  const admitted: WebSocket[] = [];
  const openAtOnce: number[] = [];
  const results = await Promise.all(
    callers.map((caller) =>
      knock(caller, (socket) => {
        admitted.push(socket);
        openAtOnce.push(admitted.filter(({ readyState }) => readyState === WebSocket.OPEN).length);
      }),
    ),
  );
  expect(Math.max(...openAtOnce)).toBe(limit);
  expect(results.filter((result) => result === 429)).toHaveLength(callers.length - admitted.length);
}

it("of 60 silent WebSockets from one address a tenth of its limit are accepted, and other addresses are unaffected", async () => {
  await expectPlaces(
    perAddress / 10,
    Array.from({ length: 60 }, () => "203.0.113.7"),
  );
  expect(await knock("203.0.113.8")).toBe("open");
  // Addresses in the same IPv6 /64 count as one caller.
  await expectPlaces(
    perAddress / 10,
    Array.from({ length: 15 }, (_, index) => `2001:db8:1:2::${index + 1}`),
  );
  // All networks in an IPv6 /48 together have four times the limit of one.
  await expectPlaces(
    (4 * perAddress) / 10,
    Array.from({ length: 60 }, (_, index) => `2001:db8:7:${index + 1}::1`),
  );
  expect(await knock("2001:db8:8:1::1")).toBe("open");
  // After five seconds of silence the server closes them, and their places are free again.
  await expect.poll(() => knock("203.0.113.7"), { timeout: 15_000, interval: 500 }).toBe("open");
});

it("of 300 connections from one address only its limit stay open; a trusted proxy's connections have no such limit", async () => {
  const connectFrom = (localAddress: string) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    socket.on("error", () => {});
    open.push(socket);
    return socket;
  };
  const isOpen = (socket: Socket) => socket.readyState === "open" && !socket.destroyed;
  const flood = Array.from({ length: 300 }, () => connectFrom("127.0.0.9"));
  const proxied = Array.from({ length: 150 }, () => connectFrom("127.0.0.1"));
  const other = connectFrom("127.0.0.10");
  const isTurnedAway = (socket: Socket) => socket.destroyed || socket.readableEnded;
  await until(
    () => flood.filter(isTurnedAway).length === 300 - perAddress && [...proxied, other].every(isOpen),
    "the rest to be turned away",
  );
  expect(flood.filter(isOpen)).toHaveLength(perAddress);
});
