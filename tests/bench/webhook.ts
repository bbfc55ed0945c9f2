/**
 * Compares the webhooks per second that the whole application accepts (signature over the raw body, event and job in one
 * durable statement) with a bare Fastify route that inserts the same row: same PostgreSQL, pool size and client.
 */
import { testWebhookSecret } from "#tests/support/deps.ts";
import type { BenchServer, Ratio } from "./support.ts";
import { median } from "./support.ts";
import type { Load } from "./webhook-client.ts";
import { endChildren, startApi, startChild } from "./world.ts";

const connections = 32;
const requests = 4_000;
const rounds = 7;
const poolSize = 10;

export async function benchWebhook(server: BenchServer): Promise<Ratio> {
  try {
    const product = await startApi(server, { DATABASE_POOL_SIZE: String(poolSize) });
    const baseline = await startChild("webhook-baseline.ts", [server.applicationUrl, String(poolSize)]);
    const { child: client } = await startChild("webhook-client.ts", []);
    const rate = (port: number, path: string, prefix: string) =>
      new Promise<number>((resolve, reject) => {
        client.once("message", (said: { rate?: number; error?: string }) =>
          said.rate === undefined ? reject(new Error(said.error)) : resolve(said.rate),
        );
        client.send({ port, path, prefix, requests, connections, secret: testWebhookSecret } satisfies Load);
      });
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const accepted = await rate(product.port, "/api/stripe/webhook", `product${round}`);
      const inserted = await rate(baseline.port, "/webhook", `baseline${round}`);
      // The first round is a warm-up.
      if (round === 0) continue;
      ours.push(accepted);
      theirs.push(inserted);
    }
    const name = `webhooks accepted against a bare route with one insert (${connections} at once)`;
    return { name, ours: median(ours), theirs: median(theirs), unit: "events/s", target: 1 };
  } finally {
    await endChildren();
  }
}
