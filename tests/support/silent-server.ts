/** A server that accepts connections and never answers, like a provider that hangs. */
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { hourMs } from "#domain/clock.ts";
import type { Config } from "#server/config.ts";
import type { Payments } from "#server/providers/stripe.ts";
import { createPayments } from "#server/providers/stripe.ts";

/** Payments whose calls to a silent Stripe hang until the server is closed. What happens meanwhile has then not waited for such a call. */
export function patientPayments(config: Config["stripe"]): Payments {
  return createPayments(config, undefined, { tryMs: hourMs, callMs: hourMs });
}

export interface SilentServer {
  port: number;
  /** The number of accepted connections. */
  taken(): number;
  close(): Promise<void>;
}

export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
