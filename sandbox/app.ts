/** Builds the sandbox: stand-ins for Stripe, the model providers, the mail server and Google, and a page and endpoints to control them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FastifyInstance } from "fastify";
import Fastify, { LogController } from "fastify";
import { SandboxClock } from "./clock.ts";
import { refuseForeignOrigins } from "./control/origin-guard.ts";
import { createControlPlugin, problemAnswerer } from "./control/plugin.ts";
import { ControlProblem } from "./control/problem.ts";
import { createProductClock } from "./control/product-clock.ts";
import { createStepper } from "./control/stepper.ts";
import type { SandboxEnvironment } from "./environment.ts";
import { startGoogle } from "./google/google.ts";
import { createMailCatcher } from "./mail/catcher.ts";
import { MailStore } from "./mail/store.ts";
import type { ModelServer } from "./models/plugin.ts";
import { createModelServer } from "./models/plugin.ts";
import type { StripeSandbox } from "./stripe/plugin.ts";
import { createStripeSandbox } from "./stripe/plugin.ts";

export interface Sandbox {
  app: FastifyInstance;
  clock: SandboxClock;
  models: ModelServer;
  /** Undefined if the product uses the real Stripe. */
  stripe: StripeSandbox | undefined;
  /** Opens all ports. Rejects if one is taken. */
  listen(): Promise<{ url: string; smtpPort: number }>;
  close(): Promise<void>;
}

/** How often the Stripe sandbox does its due work while the clock is not being moved. */
const stripeTickMs = 500;

function openDatabase(directory: string): DatabaseSync {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, "control.sqlite"));
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on; pragma busy_timeout = 5000");
  return database;
}

function openStripe(environment: SandboxEnvironment, clock: SandboxClock, log: FastifyInstance["log"]): StripeSandbox | undefined {
  if (!environment.stripe) return undefined;
  return createStripeSandbox({
    databasePath: join(environment.dataDirectory, "stripe.sqlite"),
    origin: environment.origin,
    webhook: { url: new URL("/api/stripe/webhook", environment.productUrl), secret: `whsec_${environment.token}` },
    now: () => clock.now(),
    taxes: environment.taxes,
    log,
  });
}

/** Does the Stripe sandbox's due work as real time passes; never two runs at once. */
function startTicking(stripe: StripeSandbox, clock: SandboxClock, moving: () => boolean, log: FastifyInstance["log"]): () => void {
  let running = false;
  const timer = setInterval(() => {
    const dueAt = stripe.nextDueAt();
    if (running || moving() || dueAt === null || dueAt > clock.now()) return;
    running = true;
    stripe
      .runDue(clock.now())
      .catch((error: unknown) => log.error({ error }, "due work of the Stripe sandbox failed"))
      .finally(() => {
        running = false;
      });
  }, stripeTickMs);
  return () => clearInterval(timer);
}

export async function buildSandbox(environment: SandboxEnvironment): Promise<Sandbox> {
  const database = openDatabase(environment.dataDirectory);
  const app = Fastify({
    logger: { level: environment.logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  const clock = new SandboxClock(database);
  const mails = new MailStore(database);
  const models = createModelServer(clock);
  const stripe = openStripe(environment, clock, app.log);
  const stepper = stripe && createStepper({ clock, stripe, product: createProductClock(environment.productUrl, environment.token) });
  const catcher = createMailCatcher(mails, (details, message) => app.log.warn(details, message));

  const answerProblem = problemAnswerer(environment.publicUrl);
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler((request, reply) =>
    answerProblem(new ControlProblem(404, "not_found", "There is nothing at this address."), request, reply),
  );
  app.addHook("onRequest", refuseForeignOrigins(environment.origin));
  await app.register(models.plugin, { prefix: "/providers" });
  if (stripe) await app.register(stripe.plugin);
  await app.register(
    createControlPlugin({
      clock,
      stepper,
      mails,
      models,
      setEventFaults: stripe?.setEventFaults,
      setApiFaults: stripe?.setApiFaults,
      productUrl: environment.publicUrl,
      payments: stripe?.listForControlPage,
    }),
  );

  let closeGoogle = async () => {};
  const stopTicking = stripe && stepper ? startTicking(stripe, clock, stepper.moving, app.log) : undefined;
  return {
    app,
    clock,
    models,
    stripe,
    async listen() {
      if (environment.googleUrl) closeGoogle = await startGoogle(environment, environment.googleUrl);
      const smtpPort = await catcher.listen(environment.host, environment.smtpPort);
      const url = await app.listen({ host: environment.host, port: environment.port });
      return { url, smtpPort };
    },
    async close() {
      stopTicking?.();
      stepper?.close();
      await Promise.all([app.close(), catcher.close(), closeGoogle()]);
      await stripe?.close();
      database.close();
    },
  };
}
