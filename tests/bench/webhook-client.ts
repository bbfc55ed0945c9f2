/** Sends prepared requests over open connections, so that the client needs almost no CPU. Runs as a child process. */
import { connect } from "node:net";
import { performance } from "node:perf_hooks";
import Stripe from "stripe";

export interface Load {
  port: number;
  path: string;
  secret: string;
  requests: number;
  connections: number;
  /** The event ids begin with it; different for every load. */
  prefix: string;
}

/** Writes an event about as large as a real `invoice.paid`. */
function writeEvent(id: string, number: number): string {
  const lines = Array.from({ length: 3 }, (_, index) => ({
    id: `il_${number}_${index}`,
    object: "line_item",
    amount: 1999,
    currency: "usd",
    description: "1 × Tessera Starter (at $19.99 / month)",
    metadata: { user_id: "0199e0c0-0000-7000-8000-000000000000", price_id: "starter_month" },
    period: { start: 1_760_000_000, end: 1_762_678_400 },
  }));
  const object = {
    id: `in_${number}`,
    object: "invoice",
    amount_paid: 1999,
    customer: `cus_${number}`,
    lines: { object: "list", data: lines },
  };
  return JSON.stringify({ id, object: "event", type: "invoice.paid", livemode: false, created: 1_760_000_000, data: { object } });
}

function writeRequests(load: Load): Buffer[] {
  const timestamp = Math.floor(Date.now() / 1_000);
  return Array.from({ length: load.requests }, (_, number) => {
    const payload = writeEvent(`evt_${load.prefix}_${number}`, number);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: load.secret, timestamp });
    return Buffer.from(
      `POST ${load.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json; charset=utf-8\r\nstripe-signature: ${signature}\r\n` +
        `user-agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
    );
  });
}

/** Sends requests over one connection, each after the response to the one before. */
function drain(port: number, take: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const next = () => {
      const request = take();
      if (request) socket.write(request);
      else socket.end(resolve);
    };
    let answer = "";
    socket.on("connect", next);
    socket.on("error", reject);
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      if (!answer.endsWith('{"received":true}')) {
        if (answer.startsWith("HTTP/1.1 200")) return;
        socket.destroy(new Error(answer));
        return;
      }
      answer = "";
      next();
    });
  });
}

/** Accepted events per second. */
async function run(load: Load): Promise<number> {
  const requests = writeRequests(load);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: load.connections }, () => drain(load.port, () => requests.pop())));
  return (load.requests / (performance.now() - startedAt)) * 1_000;
}

if (import.meta.main) {
  process.on("message", (load: Load) => {
    run(load).then(
      (rate) => process.send?.({ rate }),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  process.send?.({ port: 0 });
}
