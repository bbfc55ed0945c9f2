/** A worker in this process on a database of its own, with a real SMTP server, on PostgreSQL's queue or on Redis. */
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
  /** Recipients of the mails the server took, in order. */
  delivered: string[];
  /** The worker's way to PostgreSQL, where it was asked for. */
  way: TcpProxy | undefined;
  /** Called when a mail has arrived, before the server says that it took it. */
  onArrival(listener: () => Promise<void>): void;
  /** While set, the SMTP server answers so. */
  refuseWith(response: { code: number; message: string } | undefined): void;
  startWorker(): RunningWorker;
  /** Queues one mail, as a feature does in its transaction. Returns the recipient. */
  queueOne(): Promise<string>;
  close(): Promise<void>;
}

/** The same address by another port of this machine. */
function through(url: string, port: number | undefined): string {
  const changed = new URL(url);
  if (port !== undefined) changed.port = String(port);
  return changed.href;
}

/** `cuttable`: the worker reaches PostgreSQL by a way that may be cut, while the test's own connections last. */
export async function createWorkerWorld(options: { redisUrl?: string; cuttable?: boolean } = {}): Promise<WorkerWorld> {
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
  const variables = { SMTP_URL: `smtp://127.0.0.1:${port}`, ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}) };
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
      await Promise.all(workers.map((worker) => worker.close()));
      await deps.close();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
      await way?.cut();
      await database.drop();
    },
  };
}
