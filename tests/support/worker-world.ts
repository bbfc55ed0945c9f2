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

export interface WorkerWorld {
  deps: Deps;
  database: TestDatabase;
  /** Recipients of the mails the server took, in order. */
  delivered: string[];
  /** While set, the SMTP server answers so. */
  refuseWith(response: { code: number; message: string } | undefined): void;
  startWorker(): RunningWorker;
  /** Queues one mail, as a feature does in its transaction. Returns the recipient. */
  queueOne(): Promise<string>;
  close(): Promise<void>;
}

export async function createWorkerWorld(options: { redisUrl?: string } = {}): Promise<WorkerWorld> {
  const delivered: string[] = [];
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
      stream.on("end", () => callback());
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", () => resolve()));
  const address = smtp.server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const database = await createTestDatabase();
  const variables = { SMTP_URL: `smtp://127.0.0.1:${port}`, ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}) };
  const config = readConfig(testEnvironment(database, variables));
  const deps = createDeps(config, "test worker");
  const workers: RunningWorker[] = [];
  return {
    deps,
    database,
    delivered,
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
      await database.drop();
    },
  };
}
