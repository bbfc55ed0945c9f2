/** BullMQ runs on Redis if REDIS_URL is set, otherwise on the product's PostgreSQL. The jobs and the code are the same. */
import type { Processor, QueueOptions, WorkerOptions } from "bullmq";
import { createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { Redis } from "ioredis";
import type { Config } from "../config.ts";
import { queueSchema } from "../db/queue-schema.ts";
import type { JobKind } from "./jobs.ts";
import { isJobName, jobKinds, kindOfJob } from "./jobs.ts";

/** The Stripe queue keeps the name of the single queue of earlier releases, so that the jobs they left in it are still processed. */
const queueNames: Readonly<Record<JobKind, string>> = {
  stripe: "tessera",
  mail: "tessera-mail",
  files: "tessera-files",
  invoices: "tessera-invoices",
  exports: "tessera-exports",
};

export interface DispatchedJob {
  id: string;
  name: string;
  payload: unknown;
}

/**
 * Publishes jobs in bulk, each to the queue of its kind. Does nothing for a job whose id the queue already has. Rejects after a
 * timeout.
 */
export interface JobPublisher {
  publish(jobs: readonly DispatchedJob[]): Promise<void>;
  /** Calls the listener each time Redis becomes reachable, the first time included, because Redis may have lost its data. */
  onReached(listener: () => void): void;
  close(): Promise<void>;
}

export interface JobConsumer {
  /** Takes no more jobs and waits up to `deadlineMs` for the running ones. */
  close(deadlineMs: number): Promise<void>;
}

type QueueConfig = Pick<Config, "databaseUrl" | "redisUrl">;

/** After a kill -9 a job runs again as soon as its lock has expired, however often that happens. */
const stallPolicy = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 1_000_000 };
const publishTimeoutMs = 5_000;
/** After an outage of the queue a worker asks for jobs again this soon; BullMQ's own delay is 15 s, and a stop has to wait for it too. */
const retryAfterOutageMs = 1_000;
/** The outbox is responsible for retries and back-off, so BullMQ dispatches each job once and removes it. */
const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

/** A job with an unknown name goes to the Stripe queue; it fails at once in any of them. */
function kindOf(job: string): JobKind {
  return isJobName(job) ? kindOfJob[job] : "stripe";
}

const onPostgres = withBackend(createPostgresBackend);

function postgresConnection(config: QueueConfig, max: number) {
  return { connectionString: config.databaseUrl, schema: queueSchema, max };
}

function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

export function createJobPublisher(config: QueueConfig): JobPublisher {
  const { redisUrl } = config;
  const redis = redisUrl
    ? new Redis(redisUrl, { maxRetriesPerRequest: 1, enableOfflineQueue: false, socketTimeout: publishTimeoutMs })
    : undefined;
  redis?.on("error", () => {});
  const queues = jobKinds.map((kind) => {
    const queue = redis
      ? new Queue(queueNames[kind], { connection: redis } satisfies QueueOptions)
      : new onPostgres.Queue(queueNames[kind], { connection: postgresConnection(config, 1) });
    queue.on("error", () => {});
    return { kind, queue };
  });
  return {
    async publish(jobs) {
      const bulks = queues.map(({ kind, queue }) => {
        const bulk = jobs.filter(({ name }) => kindOf(name) === kind);
        return queue.addBulk(bulk.map((job) => ({ name: job.name, data: job.payload, opts: { ...jobOptions, jobId: job.id } })));
      });
      await withTimeout(Promise.all(bulks), publishTimeoutMs, "publishing jobs");
    },
    onReached(listener) {
      redis?.on("ready", listener);
    },
    async close() {
      const closing = Promise.all(queues.map(({ queue }) => queue.close()));
      await withTimeout(closing, publishTimeoutMs, "closing the queues").catch(() => {});
      redis?.disconnect();
    },
  };
}

/** `slots` says how many jobs of each kind run at once. */
export function createJobConsumer(
  config: QueueConfig,
  slots: Readonly<Record<JobKind, number>>,
  handle: (job: DispatchedJob) => Promise<void>,
): JobConsumer {
  const { redisUrl } = config;
  const process: Processor = async (job) => handle({ id: String(job.id), name: job.name, payload: job.data });
  const redis = redisUrl ? new Redis(redisUrl, { maxRetriesPerRequest: null }) : undefined;
  redis?.on("error", () => {});
  const workers = jobKinds.map((kind) => {
    const options = { ...stallPolicy, runRetryDelay: retryAfterOutageMs, concurrency: slots[kind] } satisfies Omit<
      WorkerOptions,
      "connection"
    >;
    const worker = redis
      ? new Worker(queueNames[kind], process, { ...options, connection: redis })
      : new onPostgres.Worker(queueNames[kind], process, { ...options, connection: postgresConnection(config, 2) });
    worker.on("error", () => {});
    return worker;
  });
  return {
    async close(deadlineMs) {
      // worker.close() has no timeout, and a second call can't force the first. After ours the process ends, the jobs' locks expire,
      // and another worker takes the jobs over.
      const closing = workers.map((worker) => withTimeout(worker.close(), deadlineMs, "finishing jobs").catch(() => {}));
      await Promise.all(closing);
      redis?.disconnect();
    },
  };
}
