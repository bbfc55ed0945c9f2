/**
 * Restarts the API processes one after the other behind the shipped proxy; no request may fail and no answer may be cut. `npm run test:full`
 * adds a balancer in front of the proxy, a second round, and more load.
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { TestContext } from "vitest";
import { expect, it } from "vitest";
import WebSocket from "ws";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import type { Call, LoadResult } from "#tests/support/load.ts";
import { sendEvenly } from "#tests/support/load.ts";
import type { Proxy as Nginx } from "#tests/support/nginx.ts";
import { createCertificate, startProxy, startTerminator } from "#tests/support/nginx.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { scaleFor } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

const { perSecond, streams, rounds } = full ? { perSecond: 50, streams: 20, rounds: 2 } : { perSecond: 10, streams: 4, rounds: 1 };

/** The address from which the load balancer that terminates TLS connects to the proxy. */
const balancerAddress = "127.0.0.5";
const fronts = ["the shipped proxy", "a balancer that ends TLS in front of it"] as const;

interface World {
  product: ScaleSetup;
  proxy: Nginx;
  /** The URL that clients use. */
  front: string;
}

async function start(test: TestContext, front: (typeof fronts)[number]): Promise<World> {
  const product = await scaleFor(test, {
    apis: 2,
    redis: true,
    behindOneName: true,
    environment: { DRAIN_TIMEOUT_SECONDS: "40", TRUSTED_PROXIES: "127.0.0.1" },
  });
  const hosts = product.apiUrls.map((url) => new URL(url));
  const proxy = await startProxy({
    addresses: hosts.map(({ hostname }) => hostname),
    apiPort: Number(hosts[0]?.port),
    trustedPeers: `set_real_ip_from ${balancerAddress};`,
  });
  test.onTestFinished(() => proxy.stop());
  if (front === fronts[0]) return { product, proxy, front: proxy.url };
  const certificate = createCertificate();
  setDefaultCACertificates([...getCACertificates(), certificate.cert]);
  const balancer = await startTerminator(proxy.port, balancerAddress, certificate);
  test.onTestFinished(() => balancer.stop());
  return { product, proxy, front: balancer.url };
}

/** Asks one question after the other and reads each answer to its end. */
async function keepAsking(visitor: Visitor, signal: AbortSignal): Promise<{ answered: number; cut: string[] }> {
  const seen = { answered: 0, cut: [] as string[] };
  while (!signal.aborted) {
    try {
      const { receipt, eventIds } = await visitor.ask();
      const whole = receipt?.status === "completed" && eventIds.every((id, index) => id === index + 1);
      if (!whole) seen.cut.push(JSON.stringify({ receipt, eventIds: eventIds.length }));
      seen.answered += 1;
    } catch (error) {
      seen.cut.push(String(error));
    }
  }
  return seen;
}

/** Keeps a live connection open and reconnects whenever it is closed; collects the close codes. */
function keepListening(front: string, visitor: Visitor, signal: AbortSignal): { closes: number[] } {
  const seen = { closes: [] as number[] };
  const open = () => {
    if (signal.aborted) return;
    const socket = new WebSocket(`${front.replace("http", "ws")}/api/realtime`, { origin: front });
    socket.once("open", () => socket.send(JSON.stringify({ type: "authenticate", access_token: visitor.session?.access_token })));
    socket.once("error", () => {});
    socket.once("close", (code) => {
      seen.closes.push(code);
      open();
    });
    signal.addEventListener("abort", () => socket.terminate());
  };
  open();
  return seen;
}

async function restartAll(product: ScaleSetup): Promise<string[]> {
  const ends: string[] = [];
  for (const api of product.apis) {
    ends.push(await api.stop("SIGTERM"));
    await api.start();
  }
  return ends;
}

const guarantee = `${rounds} rolling restarts under ${perSecond} requests a second and ${streams} streams fail no request and cut no stream, and no send is carried out twice`;

it.for(full ? fronts : fronts.slice(0, 1))(`behind %s, ${guarantee}`, { timeout: 300_000 }, async (name, test) => {
  const { product, proxy, front } = await start(test, name);
  const visitors = await Promise.all(
    Array.from({ length: Math.ceil(streams / 10) }, async () => {
      const visitor = await new Visitor(front, product.sandboxUrl).join();
      await visitor.subscribe("enterprise_month", 1250);
      return visitor;
    }),
  );
  const [visitor] = visitors;
  const authorization = `Bearer ${visitor?.session?.access_token}`;
  // An answer of 250 tokens ends within the drain.
  await fetch(`${product.sandboxUrl}/models/pace`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ paceMs: full ? 100 : 30 }),
  });
  const calls: Call[] = [
    { method: "GET", path: "/api/models" },
    { method: "POST", path: "/api/functions/reliable-subscription-check", headers: { authorization } },
    { method: "GET", path: "/api/credits/wallet", headers: { authorization } },
  ];
  const asking = new AbortController();
  const listening = new AbortController();
  const load: Promise<LoadResult> = sendEvenly(front, perSecond, calls, listening.signal);
  const readers = visitors.flatMap((each) => Array.from({ length: Math.min(streams, 10) }, () => keepAsking(each, asking.signal)));
  const page = visitor ? keepListening(front, visitor, listening.signal) : { closes: [] };

  for (let round = 0; round < rounds; round += 1) for (const end of await restartAll(product)) expect(end).toBe("exit code 0");
  asking.abort();
  const answers = await Promise.all(readers);
  listening.abort();
  const { sent, failures } = await load;
  const answered = answers.reduce((sum, each) => sum + each.answered, 0);
  console.log(
    `behind ${name}: ${sent} requests, ${failures.length} failed; ${answered} answers, ${answers.flatMap(({ cut }) => cut).length} cut`,
  );

  const failed = [...failures, ...answers.flatMap(({ cut }) => cut)];
  const logs = [...product.apis.map(({ output }) => output), proxy.errorLog()].join("\n");
  // Where PostgreSQL got no processor for two seconds, the API has said so and answered 503. The proxy repeats a GET then, and no POST.
  const starved = logs.match(/PostgreSQL does not respond/g)?.length ?? 0;
  expect(
    failed.filter((failure) => starved === 0 || !failure.includes("service_unavailable")),
    logs,
  ).toEqual([]);
  expect(failed.length, logs).toBeLessThanOrEqual(starved);
  expect(answered).toBeGreaterThanOrEqual(streams);
  expect(page.closes.filter((code) => code !== 1012 && code !== 1006)).toEqual([]);
  expect(page.closes).toContain(1012);
  // One generation per answer: no send was carried out twice.
  const { rows } = await product.database.pool.query<{ count: number }>("select count(*) from generations");
  expect(rows[0]?.count).toBe(answered);
  await waitUntilSettled(product.database);
  await expectBooksAgree(product.database);
});
