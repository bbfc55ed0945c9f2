/** The product as an operator runs it: sandbox, any number of API and worker processes, on PostgreSQL and, where asked, Redis. */
import type { ChildProcess } from "node:child_process";
import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";
import { freePort } from "#server/embedded/processes.ts";
import type { TestDatabase } from "./postgres.ts";
import { createTestDatabase } from "./postgres.ts";
import type { TestRedis } from "./redis.ts";
import { startRedis } from "./redis.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readyTimeoutMs = 30_000;

/** One process of the product, which may be killed and started again. */
export class Part {
  readonly name: string;
  private readonly entry: string;
  private readonly environment: NodeJS.ProcessEnv;
  private child: ChildProcess | undefined;
  private exited: Promise<string> = Promise.resolve("never started");
  /** Everything it wrote, for the message of a failed test. */
  output = "";

  constructor(name: string, entry: string, environment: NodeJS.ProcessEnv) {
    this.name = name;
    this.entry = entry;
    this.environment = environment;
  }

  async start(extra: NodeJS.ProcessEnv = {}): Promise<void> {
    const child = fork(path.join(root, this.entry), [], {
      env: { ...this.environment, ...extra },
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

  /** How it ended. */
  async ended(): Promise<string> {
    return this.exited;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<string> {
    if (this.running) this.child?.kill(signal);
    return this.exited;
  }

  /** Residual memory in bytes, from the operating system. */
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
  /** Instead of one on the server all tests share; dropped at the end like that one. */
  database?: TestDatabase;
  environment?: NodeJS.ProcessEnv;
}

export async function startScale({
  apis = 1,
  workers = 1,
  redis: withRedis = false,
  database: own,
  environment: extra = {},
}: ScaleOptions = {}): Promise<ScaleSetup> {
  const database = own ?? (await createTestDatabase());
  const redis = withRedis ? await startRedis() : undefined;
  const folder = await mkdtemp(path.join(tmpdir(), "tessera-product-"));
  const [sandboxPort, smtpPort, ...apiPorts] = await Promise.all(Array.from({ length: apis + 2 }, freePort));
  const apiUrls = apiPorts.map((port) => `http://127.0.0.1:${port}`);
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    DATABASE_URL: database.applicationUrl,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    SECRET_KEY: "0123456789abcdef0123456789abcdef",
    SANDBOX_URL: sandboxUrl,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_SMTP_PORT: String(smtpPort),
    SANDBOX_TOKEN: "token-of-the-tests",
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    PRODUCT_URL: apiUrls[0],
    PUBLIC_URL: apiUrls[0],
    DATA_DIR: folder,
    LOG_LEVEL: "warn",
    // Processes start by the hundred here: what was compiled once serves them all.
    NODE_COMPILE_CACHE: path.join(root, "node_modules/.cache/tessera-tests"),
    ...extra,
  };
  const product: ScaleSetup = {
    sandbox: new Part("sandbox", "server/sandbox/main.ts", environment),
    apis: apiPorts.map((port, index) => new Part(`api ${index}`, "server/main.ts", { ...environment, PORT: String(port) })),
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

/** `startScale` for one test, at whose end it stops: tests that wait most of the time can so run side by side. */
export async function scaleFor({ onTestFinished }: Pick<TestContext, "onTestFinished">, options: ScaleOptions = {}): Promise<ScaleSetup> {
  const product = await startScale(options);
  onTestFinished(() => product.stop());
  return product;
}
