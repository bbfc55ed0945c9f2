/**
 * Compares streaming through the whole product (authentication, hold, log, capture, receipt, durable PostgreSQL) with a
 * byte-for-byte proxy and with the bare SDK: that of whoever made the protocol, and `openai` with chat completions. All use the same
 * upstream, one after the other, with 200 answers at once, by each protocol.
 */
import { randomUUID } from "node:crypto";
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { CatalogueModel } from "#domain/models.ts";
import { modelsAt } from "#domain/models.ts";
import { quoteCredits } from "#domain/pricing.ts";
import type { TextProtocol } from "./streaming-baselines.ts";
import { chunksPerAnswer, fastPrefix, pacedPrefix } from "./streaming-upstream.ts";
import type { BenchServer, Ratio } from "./support.ts";
import { median, startBenchServer } from "./support.ts";
import { createTokens, endChildren, startApi, startChild } from "./world.ts";

const atOnce = 200;
/** Eight times as many as run at once: at the beginning and the end of a round fewer do. */
const answersPerRound = 1_600;
const rounds = 5;
const firstTokenSamples = 160;
/** After the warm-up, bursts of ten as they are measured: each connection of PostgreSQL has planned what a burst needs. */
const burstWarmUpAnswers = 100;
const firstTokenAtOnce = 10;
/** Time between the starts of ten concurrent answers: all at once, the hardest case, and 40 ms apart, as with real users. */
const firstTokenApartMs = [0, 40] as const;
const firstTokenTargetMs = 10;

interface Target {
  port: number;
  path: string;
  /** The headers of caller number n. */
  headers(caller: number): http.OutgoingHttpHeaders;
  body: string;
  /** Matches the end of a complete answer. */
  whole: RegExp;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const question = { role: "user", content: "What is a tessera?" };

/** Reads one answer to its end; resolves with the milliseconds to the first text. Rejects if the answer was not complete, text included. */
function readAnswer(target: Target, caller: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(target.body), ...target.headers(caller) };
    // Callers use different addresses; otherwise the rate limit per address would refuse most of them.
    const localAddress = `127.0.1.${1 + caller}`;
    const request = http.request(
      { port: target.port, host: "127.0.0.1", localAddress, path: target.path, method: "POST", headers, agent },
      (response) => {
        let firstTextMs = Number.NaN;
        let tail = "";
        response.setEncoding("latin1");
        response.on("data", (chunk: string) => {
          if (Number.isNaN(firstTextMs) && chunk.includes(" tessera")) firstTextMs = performance.now() - startedAt;
          tail = (tail + chunk).slice(-600);
        });
        response.on("end", () => {
          if (response.statusCode === 200 && !Number.isNaN(firstTextMs) && target.whole.test(tail)) resolve(firstTextMs);
          else reject(new Error(`an answer was not whole: ${response.statusCode} ${tail}`));
        });
        response.on("error", reject);
      },
    );
    request.on("error", reject);
    request.end(target.body);
  });
}

/** Completed answers per second, with `atOnce` answers streaming at any time. */
async function completedRate(target: Target): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const caller = async (number: number) => {
    while (next < answersPerRound) {
      next += 1;
      await readAnswer(target, number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, number) => caller(number)));
  return (answersPerRound / (performance.now() - startedAt)) * 1_000;
}

async function firstTextMs(targets: readonly Target[], apartMs: number, answersEach = firstTokenSamples): Promise<number[]> {
  const samples: number[][] = targets.map(() => []);
  for (let count = 0; count < answersEach; count += firstTokenAtOnce) {
    for (const [index, target] of targets.entries()) {
      const answers = await Promise.all(
        Array.from({ length: firstTokenAtOnce }, async (_, number) => {
          await delay(number * apartMs);
          return readAnswer(target, (count + number) % atOnce);
        }),
      );
      samples[index]?.push(...answers);
    }
  }
  return samples.map(median);
}

/** The path of each protocol, and what its last event contains. The upstream and the baselines read nothing else of a request. */
const spoken: Readonly<Record<TextProtocol, { path: string; whole: RegExp }>> = {
  "openai-chat": { path: "/chat/completions", whole: /\[DONE\]/ },
  "openai-responses": { path: "/responses", whole: /response\.completed/ },
  "anthropic-messages": { path: "/messages", whole: /message_stop/ },
};

function directTarget(port: number, prefix: string, protocol: TextProtocol = "openai-chat"): Target {
  const { path, whole } = spoken[protocol];
  const body = JSON.stringify({ model: "bench", messages: [question], stream: true });
  return { port, path: prefix + path, headers: () => ({ authorization: "Bearer bench" }), body, whole };
}

/** The cheapest model that is asked by the protocol today: a person has 300 credits. */
function cheapest(protocol: TextProtocol): CatalogueModel {
  const [model] = modelsAt(new Date())
    .filter((each) => each.protocol === protocol && each.category === "text")
    .sort((one, other) => one.credits - other.credits);
  if (!model) throw new Error(`no text model is asked by ${protocol} today`);
  return model;
}

/** One process, and how to ask it for an answer by each of the protocols. */
async function startProduct<Protocol extends TextProtocol>(
  server: BenchServer,
  upstream: string,
  tokens: readonly string[],
  protocols: readonly Protocol[],
): Promise<(protocol: Protocol) => Target> {
  const providers = protocols.map((protocol) => cheapest(protocol).provider.toUpperCase());
  const variables = providers.flatMap((provider) => [
    [`${provider}_API_KEY`, "bench"],
    [`${provider}_BASE_URL`, upstream],
  ]);
  const { port } = await startApi(server, Object.fromEntries(variables));
  return (protocol) => {
    const model = cheapest(protocol);
    return {
      port,
      path: "/api/generations",
      headers: (caller) => ({ authorization: `Bearer ${tokens[caller]}`, "idempotency-key": randomUUID() }),
      body: JSON.stringify({ model: model.id, prompt: question.content, quotedCredits: quoteCredits(model) }),
      whole: /"status":"completed"[^\n]*"chargedCredits":[1-9]/,
    };
  };
}

/** Collects table statistics, as autovacuum does within its first minute: without them PostgreSQL's query plans are guesses. */
async function analyze(server: BenchServer): Promise<void> {
  const owner = new pg.Client({ connectionString: server.ownerUrl });
  await owner.connect();
  await owner.query("analyze");
  await owner.end();
}

/** Starts PostgreSQL and the upstream and creates users for `measure`; stops everything afterwards. */
async function withWorld<T>(measure: (world: { server: BenchServer; tokens: string[]; upstreamPort: number }) => Promise<T>): Promise<T> {
  const server = await startBenchServer();
  try {
    const tokens = await createTokens(server, atOnce);
    await analyze(server);
    return await measure({ server, tokens, upstreamPort: (await startChild("streaming-upstream.ts", [])).port });
  } finally {
    await endChildren();
    agent.destroy();
    await server.stop();
  }
}

export async function measureStreaming(protocol: TextProtocol = "openai-chat"): Promise<Ratio[]> {
  return withWorld(async ({ server, tokens, upstreamPort }) => {
    const upstream = `http://127.0.0.1:${upstreamPort}`;
    const product = (await startProduct(server, upstream + fastPrefix, tokens, [protocol]))(protocol);
    const proxy = directTarget((await startChild("streaming-baselines.ts", ["proxy", upstream])).port, fastPrefix, protocol);
    const answering = (await startChild("streaming-baselines.ts", [protocol, upstream + fastPrefix])).port;
    // It re-emits in its own way, whatever it was asked for.
    const sdk = { ...directTarget(answering, fastPrefix, protocol), whole: /\[DONE\]/ };
    const isOpenAi = protocol === "openai-chat";
    const openAiPort = isOpenAi ? answering : (await startChild("streaming-baselines.ts", ["openai-chat", upstream + fastPrefix])).port;
    const openAi = directTarget(openAiPort, fastPrefix);
    const targets = isOpenAi ? [product, proxy, sdk] : [product, proxy, sdk, openAi];
    const rates: number[][] = targets.map(() => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, target] of targets.entries()) {
        const rate = await completedRate(target);
        // The first round is a warm-up.
        if (round > 0) rates[index]?.push(rate);
      }
      if (round === 0) await analyze(server);
    }
    const [ours = 0, throughProxy = 0, throughSdk = 0, throughOpenAi = throughSdk] = rates.map(median);
    const what = `${protocol}, ${chunksPerAnswer} chunks, ${atOnce} answers at once`;
    const ratio = (name: string, theirs: number, target: number) => ({
      name: `${name} (${what})`,
      ours,
      theirs,
      unit: "answers/s",
      target,
    });
    return [
      ratio("streaming against a byte proxy", throughProxy, 0.6),
      ratio("streaming against the bare SDK", throughSdk, 1),
      ...(isOpenAi ? [] : [ratio("streaming against the bare openai SDK with chat completions", throughOpenAi, 1)]),
    ];
  });
}

export interface FirstText {
  protocol: TextProtocol;
  /** The time between the starts of two answers. */
  apartMs: number;
  addedMs: number;
}

/** How many milliseconds (p50) later the first text arrives than from the provider itself, at 20 ms per token, by each protocol. */
export async function measureFirstText(): Promise<FirstText[]> {
  return withWorld(async ({ server, tokens, upstreamPort }) => {
    const protocols = Object.keys(spoken) as TextProtocol[];
    const product = await startProduct(server, `http://127.0.0.1:${upstreamPort}${pacedPrefix}`, tokens, protocols);
    const measured: FirstText[] = [];
    for (const protocol of protocols) {
      const targets = [product(protocol), directTarget(upstreamPort, pacedPrefix, protocol)];
      // Until then most of what a start needs runs unoptimised, and Node compiles it while others wait for the processor.
      await completedRate(product(protocol));
      await analyze(server);
      await firstTextMs([product(protocol)], 0, burstWarmUpAnswers);
      for (const apartMs of firstTokenApartMs) {
        await firstTextMs(targets, apartMs, firstTokenAtOnce);
        const [ours = 0, direct = 0] = await firstTextMs(targets, apartMs);
        measured.push({ protocol, apartMs, addedMs: ours - direct });
      }
    }
    return measured;
  });
}

export function reportFirstText({ protocol, apartMs, addedMs }: FirstText): void {
  const verdict = addedMs <= firstTokenTargetMs ? "reached" : "MISSED";
  console.log(
    `first text by ${protocol} at 20 ms a token, ${firstTokenAtOnce} answers begun ${apartMs} ms apart, p50: ${addedMs.toFixed(1)} ms later than from the provider (≤ ${firstTokenTargetMs}) ${verdict}`,
  );
}
