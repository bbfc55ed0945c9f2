/** A body that does not arrive holds its connection for a short while only, and a file from a slow phone arrives. */
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import type { FastifyRequest } from "fastify";
import Fastify from "fastify";
import { afterEach, expect, it } from "vitest";
import { limitBodyTime } from "#server/http/body-timeout.ts";

const limitMs = 200;
let app: ReturnType<typeof Fastify>;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

async function serve(): Promise<number> {
  // The server's own limit, as low as that of most routes, must not hold for the slower ones.
  app = Fastify({ requestTimeout: limitMs, http: { headersTimeout: limitMs, connectionsCheckingInterval: limitMs / 10 } });
  limitBodyTime(app as never, limitMs);
  app.post("/form", async ({ body }: FastifyRequest) => body);
  app.post("/file", { config: { bodyTimeoutMs: 30_000 } }, async ({ body }: FastifyRequest) => body);
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Sends the headers and the first half of a body; resolves with all that was answered once the connection is closed. */
function begin(port: number, path: string): { answered: Promise<string>; sendRest: () => void } {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"half"`,
  );
  const answered = new Promise<string>((resolve, reject) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
    socket.once("close", () => resolve(text)).once("error", reject);
  });
  return { answered, sendRest: () => socket.write(":true}") };
}

it("a body that stops half-way is answered with 408, and its connection is closed", async () => {
  expect(await begin(await serve(), "/form").answered).toMatch(/^HTTP\/1\.1 408 /);
});

it("a body that is slow but there in time, and a file that takes longer, are answered", async () => {
  const port = await serve();
  const [form, file, late] = [begin(port, "/form"), begin(port, "/file"), begin(port, "/form")];
  form.sendRest();
  expect(await late.answered).toMatch(/^HTTP\/1\.1 408 /);
  expect(await begin(port, "/form").answered).toMatch(/^HTTP\/1\.1 408 /);
  file.sendRest();
  for (const { answered } of [form, file]) expect(await answered).toMatch(/^HTTP\/1\.1 200 [\s\S]*"half":true/);
});
