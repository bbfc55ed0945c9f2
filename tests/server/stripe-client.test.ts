/** A call to Stripe ends in time, whatever the other side does. */
import type { Socket } from "node:net";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { failureKind } from "#server/failures.ts";
import type { StripeTimeouts } from "#server/providers/stripe.ts";
import { createPayments, orUnavailable } from "#server/providers/stripe.ts";

const sockets = new Set<Socket>();
let stop = async () => {};
afterEach(() => stop());

/** What the server does with each connection, on which one request comes. */
async function stripeThat(answer: (socket: Socket, request: string) => void, timeouts?: StripeTimeouts, ended?: AbortSignal) {
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", (request) => answer(socket, request.toString()));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const config = {
    secretKey: "sk_test_x",
    apiUrl: new URL(`http://127.0.0.1:${port}`),
    webhookSecrets: [],
    livemode: false,
    tax: "off" as const,
  };
  return createPayments(config, ended, timeouts);
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test("a server that never answers is given up when the call's time is over", async () => {
  const payments = await stripeThat(() => {}, { tryMs: 60_000, callMs: 200 });
  expect(failureKind(await failureOf(payments.balance.retrieve()))).toBe("outage");
});

test("an answer that comes byte by byte and never ends is given up as well", async () => {
  const timers: NodeJS.Timeout[] = [];
  const payments = await stripeThat(
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{");
      timers.push(setInterval(() => socket.write(" "), 10));
    },
    { tryMs: 60_000, callMs: 200 },
  );
  expect(failureKind(await failureOf(payments.balance.retrieve()))).toBe("outage");
  for (const timer of timers) clearInterval(timer);
});

test("a call whose first answer does not come is tried again with the same idempotency key", async () => {
  const keys: (string | undefined)[] = [];
  const payments = await stripeThat(
    (socket, request) => {
      keys.push(/idempotency-key: (\S+)/i.exec(request)?.[1]);
      if (keys.length === 2) socket.end("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
      if (keys.length < 3) return;
      const body = JSON.stringify({ id: "cus_1", object: "customer" });
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    },
    { tryMs: 500, callMs: 60_000 },
  );
  expect((await payments.customers.create({ email: "ada@example.com" })).id).toBe("cus_1");
  expect([keys.length, new Set(keys).size, keys[0]]).toEqual([3, 1, expect.any(String)]);
});

test("a redirect is not followed: the key goes to no other address", async () => {
  const asked: string[] = [];
  const payments = await stripeThat((socket, request) => {
    asked.push(request.split(" ", 2)[1] ?? "");
    socket.end("HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  expect(await failureOf(payments.balance.retrieve())).toBeInstanceOf(Error);
  expect(new Set(asked)).toEqual(new Set(["/v1/balance"]));
});

test("a call under way and a later one fail as an outage once the process is about to end", async () => {
  const ending = new AbortController();
  const reached = Promise.withResolvers<void>();
  const payments = await stripeThat(() => reached.resolve(), undefined, ending.signal);
  const underWay = failureOf(payments.balance.retrieve());
  await reached.promise;
  ending.abort();
  expect(failureKind(await underWay)).toBe("outage");
  expect(failureKind(await failureOf(payments.balance.retrieve()))).toBe("outage");
});

test.each([
  ["tax_address_needed", { code: "customer_tax_location_invalid", message: "The customer's location isn't recognized." }],
  ["tax_address_needed", { code: "invalid_tax_location", message: "The location is not valid." }],
  ["tax_unavailable", { code: "stripe_tax_inactive", message: "Stripe Tax has not been activated on your account." }],
  ["tax_unavailable", { code: "taxes_calculation_failed", message: "Tax calculation failed." }],
  ["tax_unavailable", { code: "failed_tax_calculation", message: "Tax calculation failed." }],
  ["tax_unavailable", { param: "automatic_tax[enabled]", message: "You must have a valid head office address." }],
  ["tax_unavailable", { param: "line_items[0][price]", message: "The price has no tax_behavior." }],
  ["payment_provider_unavailable", { code: "resource_missing", param: "line_items[0][price]", message: "No such price" }],
  ["payment_provider_unavailable", { param: "syntax", message: "Received unknown parameter: syntax" }],
])("becomes %s if Stripe refuses with %o", async (refusal, error) => {
  const body = JSON.stringify({ error: { type: "invalid_request_error", ...error } });
  const payments = await stripeThat((socket) => {
    socket.end(
      `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
  });
  const told: string[] = [];
  const log = { warn: () => told.push("warn"), error: () => told.push("error") };
  expect(await failureOf(orUnavailable(log, () => payments.balance.retrieve()))).toMatchObject({ code: refusal });
  expect(told).toEqual([refusal === "tax_unavailable" ? "error" : "warn"]);
});
