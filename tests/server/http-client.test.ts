/** What the client of the models' providers takes over from `fetch`, and what it does otherwise. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { failureKind } from "#server/failures.ts";
import { request } from "#server/providers/models/http-client.ts";
import { until } from "#tests/support/until.ts";

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  open.push(server, { close: () => server.closeAllConnections() });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function form(): FormData {
  const fields = new FormData();
  fields.set("words", "The boats are in.");
  return fields;
}

it.each([
  ["a text", JSON.stringify({ word: "größer" })],
  ["bytes", new TextEncoder().encode("größer")],
])("%s is sent as it is, with its length", async (_what, body) => {
  const address = await serve(async (asked, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    response.setHeader("x-length", `${asked.headers["content-length"]} ${sent.length} ${asked.method} ${asked.headers["x-own"]}`);
    response.end(sent);
  });
  const response = await request(address, { method: "POST", headers: { "x-own": "1" }, body });
  const length = Buffer.byteLength(body);
  expect(response.headers.get("x-length")).toBe(`${length} ${length} POST 1`);
  expect(Buffer.from(await response.bytes())).toEqual(Buffer.from(body));
});

it("a form is sent with the boundary that its headers name", async () => {
  const address = await serve((asked, response) => {
    response.setHeader("content-type", asked.headers["content-type"] ?? "");
    asked.pipe(response);
  });
  const response = await request(address, { method: "POST", headers: { "content-type": "wrong" }, body: form() });
  expect((await response.formData()).get("words")).toBe("The boats are in.");
});

it("a response whose reader is slow is held back at its provider, and is whole", async () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  const pieces = 400;
  let sent = 0;
  const address = await serve(async (_asked, response) => {
    for (; sent < pieces; sent += 1) if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    response.end();
  });
  const { body } = await request(address);
  const reader = body?.getReader() ?? expect.fail("there is no body");
  let bytes = (await reader.read()).value?.length ?? 0;
  let before = -1;
  const nothingMoves = () => {
    const moved = sent !== before;
    before = sent;
    return !moved;
  };
  await until(nothingMoves, "the provider to wait");
  expect(sent).toBeLessThan(pieces / 2);
  for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.length;
  expect(bytes).toBe(pieces * piece.length);
});

it("what arrived while nobody read is one chunk", async () => {
  const written = Promise.withResolvers<void>();
  const address = await serve((_asked, response) => {
    response.write("a");
    response.write("b");
    response.end("c", () => written.resolve());
  });
  const { body } = await request(address);
  await written.promise;
  const reader = body?.getReader() ?? expect.fail("there is no body");
  let chunks = 0;
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks += 1;
    text += Buffer.from(next.value).toString();
  }
  expect({ text, few: chunks <= 2 }).toEqual({ text: "abc", few: true });
});

it("a call that is given up fails with the reason, before its response and within it, and closes its connection", async () => {
  let closed = 0;
  const address = await serve((asked, response) => {
    response.once("close", () => {
      closed += 1;
    });
    if (asked.url === "/begun") response.write("Half");
  });
  const silent = new AbortController();
  const waiting = request(address, { signal: silent.signal });
  const begun = new AbortController();
  const { body } = await request(`${address}begun`, { signal: begun.signal });
  const reader = body?.getReader() ?? expect.fail("there is no body");
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("Half");
  const reading = reader.read();
  const reason = new Error("nobody wants it");
  silent.abort(reason);
  begun.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(reading).rejects.toBe(reason);
  await expect(request(address, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await until(() => closed === 2, "the connections to close");
});

it("a reader that leaves while the provider is silent closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const address = await serve((_asked, response) => {
    response.once("close", () => closed.resolve());
    response.flushHeaders();
  });
  const { body } = await request(address);
  const reader = body?.getReader() ?? expect.fail("there is no body");
  const reading = reader.read();
  await reader.cancel();
  expect(await reading).toMatchObject({ done: true });
  await closed.promise;
});

it("a connection that breaks is an outage, before the response and within it", async () => {
  const address = await serve((asked, response) => {
    if (asked.url === "/begun") response.write("Half", () => response.destroy());
    else response.destroy();
  });
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("nothing failed"),
      (error: unknown) => error,
    );
  const before = await errorOf(request(address));
  const within = await errorOf(request(`${address}begun`).then((response) => response.text()));
  for (const error of [before, within]) {
    expect(error).toBeInstanceOf(TypeError);
    expect(failureKind(error)).toBe("outage");
  }
});

it("a redirect, a compressed response and a status that there is not are errors", async () => {
  const address = await serve((asked, response) => {
    if (asked.url === "/redirect") response.writeHead(308, { location: "/" }).end();
    else if (asked.url === "/compressed") response.writeHead(200, { "content-encoding": "gzip" }).end("x");
    else response.writeHead(Number(asked.url?.slice(1))).end();
  });
  for (const wrong of ["redirect", "compressed", "799"]) await expect(request(address + wrong)).rejects.toBeInstanceOf(TypeError);
  expect((await request(`${address}204`)).body).toBeNull();
  expect((await request(`${address}503`)).status).toBe(503);
});
