/** BullMQ on Redis where REDIS_URL is given, else on the product's PostgreSQL: the same jobs, the same code. */
import type { Processor, QueueOptions, WorkerOptions } from "bullmq";
import { createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { Redis } from "ioredis";
import type { Config } from "../config.ts";
import { queueSchema } from "./schema.ts";

const queueName = "tessera";

export interface DispatchedJob {
  id: string;
  name: string;
  payload: unknown;
}

/** Publishes in bulk; a job whose id is known and not done is left as it is. Rejects within the timeout. */
export interface JobPublisher {
  publish(jobs: readonly DispatchedJob[]): Promise<void>;
  /** Whenever a queue that keeps nothing on disk can be reached, at first and again: it may have come up empty. */
  onReached(listener: () => void): void;
  close(): Promise<void>;
}

export interface JobConsumer {
  /** Stops taking jobs and waits for the running ones, up to `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

type QueueConfig = Pick<Config, "databaseUrl" | "redisUrl">;

/** After a kill -9 a job runs again once its lock lapsed: soon, and however often that happens. */
const stallPolicy = { lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 1_000_000 };
const publishTimeoutMs = 5_000;
/** Retries and their back-off are the outbox's: BullMQ dispatches once and forgets. */
const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true } as const;

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
  const redis = redisUrl ? new Redis(redisUrl, { maxRetriesPerRequest: 1, enableOfflineQueue: false }) : undefined;
  redis?.on("error", () => {});
  const queue = redis
    ? new Queue(queueName, { connection: redis } satisfies QueueOptions)
    : new onPostgres.Queue(queueName, { connection: postgresConnection(config, 2) });
  queue.on("error", () => {});
  return {
    async publish(jobs) {
      const bulk = jobs.map((job) => ({ name: job.name, data: job.payload, opts: { ...jobOptions, jobId: job.id } }));
      await withTimeout(queue.addBulk(bulk), publishTimeoutMs, "publishing jobs");
    },
    onReached(listener) {
      redis?.on("ready", listener);
    },
    async close() {
      await withTimeout(queue.close(), publishTimeoutMs, "closing the queue").catch(() => {});
      redis?.disconnect();
    },
  };
}

export function createJobConsumer(config: QueueConfig, concurrency: number, handle: (job: DispatchedJob) => Promise<void>): JobConsumer {
  const { redisUrl } = config;
  const process: Processor = async (job) => handle({ id: String(job.id), name: job.name, payload: job.data });
  const redis = redisUrl ? new Redis(redisUrl, { maxRetriesPerRequest: null }) : undefined;
  redis?.on("error", () => {});
  const options = { ...stallPolicy, concurrency } satisfies Omit<WorkerOptions, "connection">;
  const worker = redis
    ? new Worker(queueName, process, { ...options, connection: redis })
    : new onPostgres.Worker(queueName, process, { ...options, connection: postgresConnection(config, 4) });
  worker.on("error", () => {});
  return {
    async close(deadlineMs) {
      // worker.close() has no deadline of its own; past ours the locks lapse and another worker takes the jobs over.
      await withTimeout(worker.close(), deadlineMs, "finishing jobs").catch(() => worker.close(true));
      redis?.disconnect();
    },
  };
}
