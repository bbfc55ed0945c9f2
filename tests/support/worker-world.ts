/** Runs a worker in this process with its own database, a real SMTP server, and the queue on PostgreSQL or Redis. */
import { randomUUID } from "node:crypto";
import type { SMTPServerOptions } from "smtp-server";
import { SMTPServer } from "smtp-server";
import { readConfig } from "#server/config.ts";
import { inTransaction } from "#server/db/transaction.ts";
import type { Deps } from "#server/deps.ts";
import { createDeps } from "#server/deps.ts";
import { queueMail } from "#server/features/notifications/service.ts";
import type { RunningWorker } from "../../worker/worker.ts";
import { startWorker } from "../../worker/worker.ts";
import { testEnvironment } from "./deps.ts";
import type { TestDatabase } from "./postgres.ts";
import { createTestDatabase } from "./postgres.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { startTcpProxy } from "./tcp-proxy.ts";

export interface WorkerWorld {
  deps: Deps;
  database: TestDatabase;
  /** Recipients of the mails the SMTP server accepted, in order. */
  delivered: string[];
  /** The proxy between the worker and PostgreSQL, if `cuttable` was set. */
  way: TcpProxy | undefined;
  /** `listener` runs when a mail has arrived, before the SMTP server confirms it. */
  onArrival(listener: () => Promise<void>): void;
  /** The SMTP server refuses every recipient with this response until it is set to undefined. */
  refuseWith(response: { code: number; message: string } | undefined): void;
  startWorker(): RunningWorker;
  /** Queues one mail in a transaction, as a feature does. Returns the recipient. */
  queueOne(): Promise<string>;
  close(): Promise<void>;
}

/** The same URL with another port. */
function through(url: string, port: number | undefined): string {
  const changed = new URL(url);
  if (port !== undefined) changed.port = String(port);
  return changed.href;
}

/**
 * With `variables` the environment has more settings. With `cuttable` the worker reaches PostgreSQL through a proxy the test can cut;
 * the test's own connections stay open.
 */
export async function createWorkerWorld(
  options: { redisUrl?: string; cuttable?: boolean; variables?: NodeJS.ProcessEnv } = {},
): Promise<WorkerWorld> {
  const delivered: string[] = [];
  let arrived: () => Promise<void> = async () => {};
  let refusal: { code: number; message: string } | undefined;
  const onRcptTo: SMTPServerOptions["onRcptTo"] = (address, _session, callback) => {
    if (refusal) {
      callback(Object.assign(new Error(refusal.message), { responseCode: refusal.code }));
      return;
    }
    delivered.push(address.address);
    callback();
  };
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onRcptTo,
    onData: (stream, _session, callback) => {
      stream.resume();
      stream.on("end", () => void arrived().then(() => callback()));
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
  const address = smtp.server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const database = await createTestDatabase();
  const variables = {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
    ...options.variables,
  };
  const { hostname, port: databasePort } = new URL(database.applicationUrl);
  const way = options.cuttable ? await startTcpProxy({ host: hostname, port: Number(databasePort) }) : undefined;
  const config = readConfig(testEnvironment({ applicationUrl: through(database.applicationUrl, way?.port) }, variables));
  const deps = createDeps(config, "test worker");
  const workers: RunningWorker[] = [];
  return {
    deps,
    database,
    delivered,
    way,
    onArrival(listener) {
      arrived = listener;
    },
    refuseWith(response) {
      refusal = response;
    },
    startWorker() {
      const worker = startWorker(deps);
      workers.push(worker);
      return worker;
    },
    async queueOne() {
      const recipient = `reader-${randomUUID()}@example.com`;
      await inTransaction(deps.db, (trx) =>
        queueMail(
          trx,
          { key: randomUUID(), userId: null, recipient, template: "account-exists", language: "en", parameters: {} },
          new Date(),
        ),
      );
      return recipient;
    },
    async close() {
      // In most tests nothing listens at Stripe's address. Without this, closing would wait for a call that is retried again and again.
      deps.endStripeCalls();
      await Promise.all(workers.map((worker) => worker.close()));
      await deps.close();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
      await way?.cut();
      await database.drop();
    },
  };
}
