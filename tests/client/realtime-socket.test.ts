import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RealtimeEvent } from "#client/lib/realtime.ts";
import { onRealtime } from "#client/lib/realtime.ts";
import { startRealtime } from "#client/lib/realtime-socket.ts";
import { adoptSession, sessionStore } from "#client/lib/session-store.ts";
import { stubPage } from "./page-stubs.ts";

const sockets: FakeSocket[] = [];

/** The part of the browser's WebSocket that the product uses. */
class FakeSocket {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  readyState = FakeSocket.CONNECTING;
  onclose: ((event: { code: number }) => void) | undefined;
  onmessage: ((event: { data: string }) => void) | undefined;
  constructor() {
    sockets.push(this);
  }
  close(): void {
    this.readyState = FakeSocket.CLOSED;
  }
}

const openSockets = () => sockets.filter(({ readyState }) => readyState !== FakeSocket.CLOSED);

let page: ReturnType<typeof stubPage>;
let stop: () => void = () => undefined;
beforeEach(() => {
  page = stubPage();
  vi.stubGlobal("WebSocket", FakeSocket);
  const user = { id: "ada", email: "ada@example.com", user_metadata: { avatar_url: null } };
  const expires_at = Math.floor(Date.now() / 1000) + 600;
  adoptSession({ access_token: "a", refresh_token: "r", expires_at, expires_in: 600, token_type: "bearer", user }, "SIGNED_IN");
});
afterEach(() => {
  stop();
  sockets.length = 0;
  vi.unstubAllGlobals();
});

it("only one socket is opened even if the browser goes online twice meanwhile, and none is left after signing out", async () => {
  stop = startRealtime();
  page.fire("online");
  page.fire("online");
  await expect.poll(() => sockets.length).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(openSockets()).toHaveLength(1);
  adoptSession(null, "SIGNED_OUT");
  expect(sessionStore.getState().user).toBeNull();
  expect(openSockets()).toHaveLength(0);
});

it("listeners are told when the socket is ready, because changes before that were not pushed", async () => {
  const told: RealtimeEvent[] = [];
  const unlisten = onRealtime((event) => told.push(event));
  stop = startRealtime();
  await expect.poll(() => sockets.length).toBe(1);
  sockets[0]?.onmessage?.({ data: JSON.stringify({ type: "ready" }) });
  expect(told).toEqual([{ type: "listening" }]);
  unlisten();
});
