/** Runs the product as an operator does: a sandbox and any number of API and worker processes, on PostgreSQL and optionally Redis. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "vitest";
import { freePort } from "#server/embedded/processes.ts";
import type { TestDatabase } from "./postgres.ts";
import { createTestDatabase } from "./postgres.ts";
import type { TestRedis } from "./redis.ts";
import { startRedis } from "./redis.ts";
import { compileCache, root } from "./sources.ts";

const readyTimeoutMs = 90_000;

/** One process of the product, which a test can kill and restart. */
export class Part {
  readonly name: string;
  private readonly entry: string;
  private readonly environment: NodeJS.ProcessEnv;
  private child: ChildProcess | undefined;
  private exited: Promise<string> = Promise.resolve("never started");
  /** The last 20,000 characters of its output, for error messages. */
  output = "";

  constructor(name: string, entry: string, environment: NodeJS.ProcessEnv) {
    this.name = name;
    this.entry = entry;
    this.environment = environment;
  }

  async start(extra: NodeJS.ProcessEnv = {}): Promise<void> {
    const child = fork(path.join(root, this.entry), [], {
      // The tests start hundreds of processes: with this cache Node compiles each file once.
      env: { NODE_COMPILE_CACHE: compileCache, ...this.environment, ...extra },
      execArgv: [],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.child = child;
    child.stdout?.on("data", (chunk) => this.keep(chunk));
    child.stderr?.on("data", (chunk) => this.keep(chunk));
    this.exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`)));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${this.name} was not ready in time: ${this.output}`)), readyTimeoutMs);
    });
    const ready = new Promise<void>((resolve) => child.on("message", () => resolve()));
    const ended = this.exited.then((how) => Promise.reject(new Error(`${this.name} ended (${how}): ${this.output}`)));
    await Promise.race([ready, ended, late]).finally(() => clearTimeout(timer));
    ended.catch(() => {});
  }

  private keep(chunk: Buffer): void {
    this.output = (this.output + chunk.toString()).slice(-20_000);
  }

  get running(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when the process has exited, with the signal or the exit code. */
  async ended(): Promise<string> {
    return this.exited;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<string> {
    if (this.running) this.child?.kill(signal);
    return this.exited;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.name} is not running`);
    return this.child.pid;
  }
}

export interface ScaleSetup {
  apis: Part[];
  workers: Part[];
  sandbox: Part;
  apiUrls: string[];
  sandboxUrl: string;
  database: TestDatabase;
  redis: TestRedis | undefined;
  stop(): Promise<void>;
}

export interface ScaleOptions {
  apis?: number;
  workers?: number;
  redis?: boolean;
  /** The API processes listen on the same port at different addresses (127.0.0.2, …), like replicas behind one DNS name. */
  behindOneName?: boolean;
  /** Used instead of a new database on the shared server, and also dropped at the end. */
  database?: TestDatabase;
  environment?: NodeJS.ProcessEnv;
}

export async function startScale({
  apis = 1,
  workers = 1,
  redis: withRedis = false,
  behindOneName = false,
  database: own,
  environment: extra = {},
}: ScaleOptions = {}): Promise<ScaleSetup> {
  const database = own ?? (await createTestDatabase());
  const redis = withRedis ? await startRedis() : undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-product-"));
  const [sandboxPort, smtpPort, googlePort, ...apiPorts] = await Promise.all(Array.from({ length: apis + 3 }, freePort));
  const places = apiPorts.map((port, index) =>
    behindOneName ? { host: `127.0.0.${index + 2}`, port: apiPorts[0] } : { host: "127.0.0.1", port },
  );
  const apiUrls = places.map(({ host, port }) => `http://${host}:${port}`);
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    DATABASE_URL: database.applicationUrl,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    SECRET_KEY: "0123456789abcdef0123456789abcdef",
    ENCRYPTION_KEY: "fedcba9876543210fedcba9876543210",
    SANDBOX_URL: sandboxUrl,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_SMTP_PORT: String(smtpPort),
    SANDBOX_GOOGLE_URL: `http://127.0.0.1:${googlePort}`,
    SANDBOX_TOKEN: "token-of-the-tests",
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    PRODUCT_URL: apiUrls[0],
    PUBLIC_URL: apiUrls[0],
    DATA_DIR: folder,
    LOG_LEVEL: "warn",
    DRAIN_TIMEOUT_SECONDS: "5",
    ...extra,
  };
  const product: ScaleSetup = {
    sandbox: new Part("sandbox", "sandbox/main.ts", environment),
    apis: places.map(
      ({ host, port }, index) => new Part(`api ${index}`, "server/main.ts", { ...environment, HOST: host, PORT: String(port) }),
    ),
    workers: Array.from({ length: workers }, (_, index) => new Part(`worker ${index}`, "worker/main.ts", environment)),
    apiUrls,
    sandboxUrl,
    database,
    redis,
    async stop() {
      await Promise.all([...product.apis, ...product.workers].map((part) => part.stop()));
      await product.sandbox.stop();
      await database.drop();
      await product.redis?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await product.sandbox.start();
    await Promise.all([...product.apis, ...product.workers].map((part) => part.start()));
  } catch (error) {
    await product.stop();
    throw error;
  }
  return product;
}

/** `startScale` for one test; stops when the test ends. Tests that mostly wait can then run concurrently. */
export async function scaleFor({ onTestFinished }: Pick<TestContext, "onTestFinished">, options: ScaleOptions = {}): Promise<ScaleSetup> {
  const product = await startScale(options);
  onTestFinished(() => product.stop());
  return product;
}
