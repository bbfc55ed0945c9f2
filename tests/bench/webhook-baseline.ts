/** The baseline for webhooks: a bare route that parses the same body and inserts the same row. Runs as a child process. */
import Fastify from "fastify";
import { createPool } from "#server/db/database.ts";

const [databaseUrl = "", poolSize = "10"] = process.argv.slice(2);
const pool = createPool(databaseUrl, Number(poolSize), "bench baseline");
const app = Fastify();

interface Event {
  id: string;
  type: string;
  livemode: boolean;
  data: { object: { id: string } };
}

app.post<{ Body: Event }>("/webhook", async ({ body }) => {
  await pool.query({
    name: "insert-event",
    text: "insert into stripe_events (id, type, livemode, object_id, payload, status) values ($1, $2, $3, $4, $5, 'received')",
    values: [body.id, body.type, body.livemode, body.data.object.id, JSON.stringify(body)],
  });
  return { received: true };
});

const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.send?.({ port: Number(new URL(url).port) });
