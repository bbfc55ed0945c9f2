import type { IncomingMessage, Server } from "node:http";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { dayMs, hourMs } from "#domain/clock.ts";
import { SandboxClock } from "#sandbox/clock.ts";
import { addDuration, parseDuration } from "#sandbox/control/duration.ts";
import { createProductClock, ProductRefusal, ProductUnreachable } from "#sandbox/control/product-clock.ts";
import type { TimedStripe } from "#sandbox/control/stepper.ts";
import { createStepper, StepStalled } from "#sandbox/control/stepper.ts";

const token = "token-of-the-tests";

describe("ISO 8601 durations", () => {
  const cases: readonly [string, string, string][] = [
    ["2026-01-31T10:00:00.000Z", "P1M", "2026-02-28T10:00:00.000Z"],
    ["2028-01-31T10:00:00.000Z", "P1M", "2028-02-29T10:00:00.000Z"],
    ["2028-02-29T10:00:00.000Z", "P1Y", "2029-02-28T10:00:00.000Z"],
    ["2026-12-15T23:59:59.999Z", "P1M", "2027-01-15T23:59:59.999Z"],
    ["2026-01-31T00:00:00.000Z", "P1M1D", "2026-03-01T00:00:00.000Z"],
    ["2026-03-29T00:30:00.000Z", "P1D", "2026-03-30T00:30:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "P2W", "2026-01-15T00:00:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "PT36H", "2026-01-02T12:00:00.000Z"],
    ["2026-01-01T00:00:00.000Z", "P1Y2M3DT4H5M6S", "2027-03-04T04:05:06.000Z"],
    ["2026-01-01T00:00:00.000Z", "PT1M", "2026-01-01T00:01:00.000Z"],
  ];
  test.each(cases)("%s + %s = %s", (start, duration, end) => {
    const parsed = parseDuration(duration);
    expect(parsed && addDuration(new Date(start), parsed).toISOString()).toBe(end);
  });

  test.each([
    "",
    "P",
    "PT",
    "P0D",
    "1M",
    "P1",
    "P-1M",
    "-P1M",
    "P1.5D",
    "P1MT",
    "P1D1M",
    "PT1S1H",
    "p1m",
    "P1M ",
    "1 month",
    "P99999Y",
    "P1H",
  ])("%j is refused", (duration) => {
    expect(parseDuration(duration)).toBeUndefined();
  });
});

/** A product whose work falls due at given instants and then takes a few milliseconds. */
class FakeProduct {
  server: Server | undefined;
  offsetMs = 0;
  pending = 0;
  requests = 0;
  readonly duties: { at: Date; name: string }[] = [];
  readonly done: string[] = [];
  /** If set, due work is never done. */
  broken = false;

  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }

  state(): object {
    const next = this.duties[0];
    return { now: this.now().toISOString(), nextDueAt: next === undefined ? null : next.at.toISOString(), pending: this.pending };
  }

  /** Does due work as the product's worker does: it stays pending for 2 ms, then the next is done. */
  sweep(): void {
    const next = this.duties[0];
    if (this.broken || next === undefined || next.at > this.now()) return;
    this.duties.shift();
    this.pending += 1;
    setTimeout(() => {
      this.done.push(next.name);
      this.pending -= 1;
      this.sweep();
    }, 2);
  }

  async handle(request: IncomingMessage): Promise<[number, object]> {
    this.requests += 1;
    if (request.headers.authorization !== `Bearer ${token}`) return [401, {}];
    if (request.method === "PUT") {
      const body: unknown = JSON.parse(await text(request));
      if (typeof body === "object" && body !== null && "now" in body)
        this.offsetMs = Math.max(this.offsetMs, new Date(String(body.now)).getTime() - Date.now());
      setTimeout(() => this.sweep(), 1);
    }
    return [200, this.state()];
  }

  async listen(port = 0): Promise<URL> {
    const server = createServer((request, response) => {
      void this.handle(request).then(([status, body]) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      );
    });
    this.server = server;
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    return new URL(`http://127.0.0.1:${address.port}`);
  }

  async close(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

/** A Stripe with events at given instants; each is delivered after 15 ms and then takes the product another 15 ms. */
function timedStripe(product: FakeProduct, events: { at: Date; name: string }[]): TimedStripe & { deliveries: number } {
  return {
    deliveries: 0,
    nextDueAt: () => events[0]?.at ?? null,
    pendingDeliveries() {
      return this.deliveries;
    },
    async runDue(now) {
      for (let event = events[0]; event !== undefined && event.at <= now; event = events[0]) {
        events.shift();
        const { name } = event;
        this.deliveries += 1;
        setTimeout(() => {
          product.pending += 1;
          this.deliveries -= 1;
          setTimeout(() => {
            product.done.push(name);
            product.pending -= 1;
          }, 15);
        }, 15);
      }
    },
  };
}

const open: FakeProduct[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((product) => product.close()));
});

async function setUp(
  events: { at: Date; name: string }[] = [],
  options: { stallMs?: number; unreachableMs?: number; token?: string } = {},
) {
  const product = new FakeProduct();
  open.push(product);
  const url = await product.listen();
  const clock = new SandboxClock(new DatabaseSync(":memory:"));
  const stripe = timedStripe(product, events);
  const { token: sent = token, ...limits } = options;
  return {
    product,
    clock,
    stripe,
    url,
    stepper: createStepper({ clock, stripe, product: createProductClock(url, sent), finalPauseMs: 10, ...limits }),
  };
}

const inDays = (days: number): Date => new Date(Date.now() + days * dayMs);
const duration = (text_: string) => parseDuration(text_) ?? { months: 0, milliseconds: 0 };

describe("moving business time", () => {
  test("the clock stops at every due instant of Stripe and the product in order, and waits for the work there", async () => {
    const { product, clock, stepper } = await setUp([
      { at: inDays(2), name: "stripe day 2" },
      { at: inDays(4), name: "stripe day 4" },
      { at: inDays(40), name: "stripe day 40" },
    ]);
    product.duties.push(
      { at: inDays(1), name: "product day 1" },
      { at: inDays(3), name: "product day 3" },
      { at: inDays(50), name: "product day 50" },
    );
    const before = Date.now();
    const now = await stepper.advance(duration("P7D"));
    expect(product.done).toEqual(["product day 1", "stripe day 2", "product day 3", "stripe day 4"]);
    expect(now.getTime() - before).toBeGreaterThanOrEqual(7 * dayMs);
    expect(now.getTime() - before).toBeLessThan(7 * dayMs + 30_000);
    expect(Math.abs(product.now().getTime() - clock.now().getTime())).toBeLessThan(1_000);
    await stepper.advance(duration("P2M"));
    expect(product.done.slice(4)).toEqual(["stripe day 40", "product day 50"]);
  });

  test("the clock stops at every hour of an hourly schedule, with few calls per step", async () => {
    const { product, stepper } = await setUp();
    for (let hour = 1; hour <= 250; hour += 1) product.duties.push({ at: new Date(Date.now() + hour * hourMs), name: String(hour) });
    await stepper.advance({ months: 0, milliseconds: 10 * dayMs });
    expect(product.done).toEqual(Array.from({ length: 240 }, (_, index) => String(index + 1)));
    expect(product.requests / 240).toBeLessThan(10);
  }, 60_000);

  test("two moves at once happen one after the other", async () => {
    const { clock, stepper } = await setUp();
    const before = clock.now().getTime();
    const [first, second] = await Promise.all([stepper.advance(duration("P1D")), stepper.advance(duration("P1D"))]);
    expect(first.getTime() - before).toBeLessThan(2 * dayMs);
    expect(second.getTime() - before).toBeGreaterThanOrEqual(2 * dayMs);
  });

  test("if work never ends, the move fails, names it and leaves the clock there; once it is done, time can move again", async () => {
    const { product, clock, stepper } = await setUp([], { stallMs: 150 });
    product.duties.push({ at: inDays(1), name: "never" });
    product.broken = true;
    const before = Date.now();
    await expect(stepper.advance(duration("P1M"))).rejects.toThrow(StepStalled);
    await expect(stepper.advance(duration("P1M"))).rejects.toThrow(/the product's work due at/);
    expect(clock.now().getTime() - before).toBeLessThan(2 * dayMs);
    product.broken = false;
    product.sweep();
    await stepper.advance(duration("P1D"));
    expect(product.done).toEqual(["never"]);
  });

  test("the clock waits for a product that restarts; if it stays away or refuses, the error says so", async () => {
    const { product, url, stepper } = await setUp([], { unreachableMs: 3_000 });
    await product.close();
    const moving = stepper.advance(duration("P1D"));
    setTimeout(() => void product.listen(Number(url.port)), 200);
    await moving;
    const away = await setUp([], { unreachableMs: 100 });
    await away.product.close();
    await expect(away.stepper.advance(duration("P1D"))).rejects.toThrow(ProductUnreachable);
    const stranger = await setUp([], { token: "wrong" });
    await expect(stranger.stepper.advance(duration("P1D"))).rejects.toThrow(ProductRefusal);
  });

  test("business time survives a restart and never goes back", () => {
    const database = new DatabaseSync(":memory:");
    const clock = new SandboxClock(database);
    clock.moveTo(inDays(30));
    clock.moveTo(inDays(3));
    const reopened = new SandboxClock(database);
    expect(reopened.now().getTime()).toBeGreaterThanOrEqual(inDays(30).getTime() - 1_000);
  });
});
