/** The shipped proxy: whose X-Forwarded-For it trusts, and its own error response. */
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { avatarBytes } from "#domain/avatars.ts";
import { DomainError } from "#domain/errors.ts";
import { recordingBytes } from "#domain/transcripts.ts";
import { slowRecordingMs } from "#server/http/body-timeout.ts";
import { toProblem } from "#server/http/problem.ts";
import type { ApiWorld } from "#tests/support/billing-world.ts";
import { startApiWorld } from "#tests/support/billing-world.ts";
import { sendFrom } from "#tests/support/load.ts";
import { makeWav } from "#tests/support/make-audio.ts";
import type { Nginx } from "#tests/support/nginx.ts";
import { createCertificate, startProxy, startTerminator } from "#tests/support/nginx.ts";

let world: ApiWorld;
let apiPort: number;
const running: Nginx[] = [];
beforeAll(async () => {
  world = await startApiWorld({ PUBLIC_URL: "https://tessera.test", TRUSTED_PROXIES: "127.0.0.1" });
  await world.app.listen({ host: "127.0.0.1", port: 0 });
  apiPort = (world.app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});
afterAll(() => world.close());

const addresses = ["127.0.0.1"];

async function startOne(options: { trustedPeers?: string; apiPort?: number } = {}) {
  const proxy = await startProxy({ addresses, apiPort, ...options });
  running.push(proxy);
  return proxy;
}

/** The requests that the rate limit leaves to the caller's address: one less after each request. */
async function roomOf(origin: string, from: string, forwarded?: string): Promise<number> {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const answer = await sendFrom(origin, from, { method: "GET", path: "/api/models", headers });
  expect(answer.status).toBe(200);
  return Number(answer.headers["x-ratelimit-remaining"]);
}

describe("the API sees each caller's real address, never a forged one", () => {
  it("if clients connect to the proxy", async () => {
    const { url } = await startOne();
    const full = await roomOf(url, "127.0.1.1");
    expect(await roomOf(url, "127.0.1.1", "203.0.113.1")).toBe(full - 1);
    expect(await roomOf(url, "127.0.1.1", "203.0.113.2, 127.0.0.1")).toBe(full - 2);
    expect(await roomOf(url, "127.0.1.2")).toBe(full);
  });

  it("if a load balancer terminates TLS in front of it", async () => {
    const proxy = await startOne({ trustedPeers: "set_real_ip_from 127.0.0.5;" });
    const balancer = await startTerminator(proxy.port, "127.0.0.5", createCertificate());
    running.push(balancer);
    const full = await roomOf(balancer.url, "127.0.2.1");
    expect(await roomOf(balancer.url, "127.0.2.1", "203.0.113.1")).toBe(full - 1);
    expect(await roomOf(balancer.url, "127.0.2.1", "203.0.113.2, 127.0.0.5")).toBe(full - 2);
    expect(await roomOf(balancer.url, "127.0.2.2")).toBe(full);
    // A caller that connects to the proxy directly is not a trusted peer.
    const direct = await roomOf(proxy.url, "127.0.2.3");
    expect(await roomOf(proxy.url, "127.0.2.3", "203.0.113.9")).toBe(direct - 1);
  });
});

it("without an API process the proxy answers 503 with a problem document, as the API would", async () => {
  const { url } = await startOne({ apiPort: 9 });
  for (const method of ["GET", "POST"] as const) {
    const answer = await sendFrom(url, "127.0.0.1", { method, path: "/api/models" });
    expect([answer.status, answer.headers["content-type"], answer.headers["retry-after"]]).toEqual([503, "application/problem+json", "2"]);
    expect(JSON.parse(answer.body)).toMatchObject({ status: 503, code: "service_unavailable" });
    expect(answer.headers).toMatchObject({ "x-content-type-options": "nosniff", server: "nginx" });
  }
});

it("the proxy's log has no query, in which a mailed link's token is, and no referrer", async () => {
  const { url, accessLog } = await startOne();
  const headers = { referer: `${url}/auth?recover=a-token` };
  await sendFrom(url, "127.0.0.1", { method: "GET", path: "/auth?recover=a-token", headers });
  await expect.poll(accessLog).toMatch(/"GET \/auth" \d{3} /);
  expect(accessLog()).not.toContain("a-token");
});

it("a picture of 10 MB reaches the API, which says itself what is too large", async () => {
  const { url } = await startOne();
  const { headers } = await world.person();
  const put = async (bytes: number) => {
    const body = Buffer.alloc(bytes, 1);
    const answer = await fetch(`${url}/api/account/avatar`, { method: "PUT", body, headers: { ...headers, "content-type": "image/png" } });
    return [answer.status, ((await answer.json()) as { code: string }).code];
  };
  expect(await put(avatarBytes)).toEqual([415, "picture_unsupported"]);
  // Again and again, because the API refuses before it has read everything, and the proxy is still sending then.
  for (let time = 0; time < 5; time += 1) expect(await put(avatarBytes + 1)).toEqual([413, "picture_too_large"]);
});

it("a recording of 25 MB is kept, the API refuses a larger one, and the proxy what no address takes, as the API would", async () => {
  const { url } = await startOne();
  const { headers } = await world.person();
  const sound = recordingBytes - makeWav(0).length;
  const recording = Buffer.concat([makeWav(0, { dataSize: sound }), Buffer.alloc(sound)]);
  const send = async (body: Buffer) => {
    const answer = await fetch(`${url}/api/recordings?name=talk.wav`, { method: "POST", body, headers });
    return { status: answer.status, type: answer.headers.get("content-type"), problem: (await answer.json()) as Record<string, unknown> };
  };
  expect(await send(recording)).toMatchObject({ status: 201, problem: { bytes: recordingBytes } });
  expect(await send(Buffer.alloc(recordingBytes + 1))).toMatchObject({ status: 413, problem: { code: "file_too_large" } });
  const { status, type, problem } = await send(Buffer.alloc(recordingBytes + 2 ** 20 + 1));
  expect([status, type]).toEqual([413, "application/problem+json"]);
  const refusal = new DomainError("body_too_large", "The request is too large");
  expect(problem).toEqual(toProblem(refusal.status, refusal.code, refusal.message));
});

it("the server waits as long for a body as the slowest address does", () => {
  expect(world.app.server.requestTimeout).toBe(slowRecordingMs);
});
