/** Runs the API in this process on its own database, with a business clock the test moves. billing-stripe.ts adds Stripe. */
import type { LightMyRequestResponse } from "fastify";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import type { Deps } from "#server/deps.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import type { LiveEvent } from "#server/http/live-events.ts";
import { testEnvironment, testWebhookSecret } from "./deps.ts";
import { createPerson } from "./people.ts";
import type { TestDatabase } from "./postgres.ts";
import { createTestDatabase } from "./postgres.ts";

/** A business clock that stands still until the test moves it. */
class TestClock {
  private nowMs: number;

  constructor(start: Date) {
    this.nowMs = start.getTime();
  }

  now(): Date {
    return new Date(this.nowMs);
  }

  moveTo(instant: Date): void {
    this.nowMs = Math.max(this.nowMs, instant.getTime());
  }
}

export interface Person {
  userId: string;
  email: string;
  headers: { authorization: string };
}

export interface ApiWorld {
  deps: Deps;
  app: Awaited<ReturnType<typeof buildApp>>;
  database: TestDatabase;
  clock: TestClock;
  /** The live events the API has published, in order. */
  pushed: LiveEvent[];
  person(): Promise<Person>;
  post(path: string, person?: Person, payload?: unknown): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

/** `variables` are added to the environment variables the configuration is read from. */
export async function startApiWorld(variables: NodeJS.ProcessEnv = {}, start = new Date("2026-03-10T09:30:00Z")): Promise<ApiWorld> {
  const database = await createTestDatabase();
  const config = readConfig(testEnvironment(database, variables));
  const clock = new TestClock(start);
  const own = createDeps(config, "test", createLogger("silent", "test"));
  await own.clock.close();
  const pushed: LiveEvent[] = [];
  const deps: Deps = { ...own, clock: { now: () => clock.now(), onMove: () => {}, close: async () => {} } };
  own.live.subscribe((event) => {
    if (event !== "resync") pushed.push(event);
  });
  const app = await buildApp(deps);
  return {
    deps,
    app,
    database,
    clock,
    pushed,
    async person() {
      const { userId, email, token } = await createPerson({ app }, database.db, { credits: 0 });
      return { userId, email, headers: { authorization: `Bearer ${token}` } };
    },
    post: (path, person, payload) =>
      app.inject({ method: "POST", url: path, headers: person?.headers ?? {}, payload: (payload ?? {}) as Record<string, unknown> }),
    async close() {
      await app.close();
      await own.live.close();
      await own.mail.close();
      await own.pool.end();
      await database.drop();
    },
  };
}

/** Posts a signed event to the webhook, as Stripe does. `signedAt` is in Unix seconds. */
export function deliver(
  world: Pick<ApiWorld, "app" | "deps">,
  payload: string,
  options: { secret?: string; signedAt?: number; header?: string; contentType?: string } = {},
): Promise<LightMyRequestResponse> {
  const timestamp = options.signedAt ?? Math.floor(Date.now() / 1000);
  const signature = world.deps.payments.webhooks.generateTestHeaderString({
    payload,
    secret: options.secret ?? testWebhookSecret,
    timestamp,
  });
  return world.app.inject({
    method: "POST",
    url: "/api/stripe/webhook",
    headers: { "content-type": options.contentType ?? "application/json; charset=utf-8", "stripe-signature": options.header ?? signature },
    payload,
  });
}
