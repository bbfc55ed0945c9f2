import type { RealtimeMessage } from "#contract/realtime.ts";
import { tellListeners } from "./realtime.ts";
import { currentToken, refreshSession } from "./session-refresh.ts";
import { sessionStore } from "./session-store.ts";

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/** Our close codes: 4401 if no valid token arrived in time, 4403 if the session was ended (contract/realtime.ts). */
const ourCloseCodes: readonly number[] = [4401, 4403];

function parseMessage(data: unknown): RealtimeMessage | undefined {
  if (typeof data !== "string") return undefined;
  try {
    return JSON.parse(data) as RealtimeMessage;
  } catch {
    return undefined;
  }
}

/** Half fixed, half random, so that a thousand people who lost the connection together don't reconnect together. */
function reconnectDelayMs(attempt: number, random: number): number {
  const ceilingMs = Math.min(longestDelayMs, firstDelayMs * 2 ** attempt);
  return ceilingMs / 2 + (ceilingMs / 2) * random;
}

/** Keeps one socket open for the signed-in person. Returns a function that closes it for good. */
function connect(): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let closed = false;

  const isUp = () => socket?.readyState === WebSocket.OPEN || socket?.readyState === WebSocket.CONNECTING;

  const retry = () => {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => void open(), reconnectDelayMs(attempt, Math.random()));
    attempt += 1;
  };

  const receive = (data: unknown) => {
    const message = parseMessage(data);
    if (message?.type === "ready") {
      attempt = 0;
      tellListeners({ type: "listening" });
    } else if (message?.type === "change") tellListeners({ type: "change", table: message.table });
  };

  const open = async () => {
    const token = await currentToken().catch(() => undefined);
    // While we waited for the token, the socket may have been closed for good, or another call may have opened it.
    if (closed || token === null || isUp()) return;
    if (token === undefined) return retry();
    const opened = new WebSocket(`${location.origin.replace(/^http/, "ws")}/api/realtime`);
    socket = opened;
    opened.onopen = () => opened.send(JSON.stringify({ type: "authenticate", access_token: token }));
    opened.onmessage = ({ data }: MessageEvent<unknown>) => receive(data);
    opened.onclose = ({ code }) => {
      if (socket !== opened || closed) return;
      // If the session was ended, the refresh is refused and signs the person out. If the token only came too late, the refresh gives us a
      // new one.
      if (ourCloseCodes.includes(code)) void refreshSession().then(retry, retry);
      else retry();
    };
  };

  const hurry = () => {
    if (isUp()) return;
    clearTimeout(timer);
    void open();
  };
  addEventListener("online", hurry);
  void open();
  return () => {
    closed = true;
    clearTimeout(timer);
    removeEventListener("online", hurry);
    socket?.close();
  };
}

/** Opens one socket while somebody is signed in, and none otherwise. Call once, at start. */
export function startRealtime(): () => void {
  let userId: string | undefined;
  let close: (() => void) | undefined;
  const follow = () => {
    const next = sessionStore.getState().user?.id;
    if (next === userId) return;
    userId = next;
    close?.();
    close = next === undefined ? undefined : connect();
  };
  follow();
  const unsubscribe = sessionStore.subscribe(follow);
  return () => {
    unsubscribe();
    close?.();
    userId = undefined;
  };
}
