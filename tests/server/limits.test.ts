/** Limits that can't be avoided by writing the same address in another way. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { mailboxKey } from "#domain/rules.ts";
import { clientNetwork } from "#server/http/client-network.ts";
import type { ApiWorld } from "../support/billing-world.ts";
import { startApiWorld } from "../support/billing-world.ts";

let world: ApiWorld;

beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(async () => {
  await world.close();
});

test("a path with percent escapes counts towards the same limit as the plain one", async () => {
  const plain = await world.app.inject({ method: "GET", url: "/api/models" });
  expect(plain.headers["x-ratelimit-limit"]).toBeDefined();
  const escaped = await world.app.inject({ method: "GET", url: "/%61pi/models" });
  expect(escaped.statusCode).toBe(200);
  expect(escaped.headers["x-ratelimit-limit"]).toBe(plain.headers["x-ratelimit-limit"]);
  expect(plain.headers["ratelimit-policy"]).toBe('"requests";q=600;w=60');
  expect(plain.headers.ratelimit).toMatch(/^"requests";r=\d+;t=\d+$/);
});

test("the aliases of one mailbox share its five mails an hour", async () => {
  const password = "a password of 2026";
  for (let alias = 0; alias < 8; alias += 1) {
    const response = await world.post("/api/auth/sign-up", undefined, { email: `some.one+${alias}@gmail.com`, password });
    expect(response.statusCode).toBe(202);
  }
  const mails = await world.database.db.selectFrom("mails").select("recipient").execute();
  expect(mails).toHaveLength(5);
});

test("spellings of a domain that mail servers treat as the same share five mails an hour", async () => {
  const spellings = [
    "example.com",
    "ｅxample.com",
    "exａmple.com",
    "example.ｃom",
    "eｘample.com",
    "examplｅ.com",
    "exaｍple.com",
    "examｐle.com",
  ];
  for (const domain of spellings) {
    const response = await world.post("/api/auth/sign-up", undefined, { email: `spelled@${domain}`, password: "a password of 2026" });
    expect(response.statusCode).toBe(202);
  }
  const mails = await world.database.db.selectFrom("mails").select("recipient").where("recipient", "like", "spelled@%").execute();
  expect(mails).toHaveLength(5);
});

test.each([
  ["ada@bücher.example", "ada@xn--bcher-kva.example"],
  ["ada@BÜCHER.example", "ada@xn--bcher-kva.example"],
  ["a.da+x@ｇmail.com", "ada@gmail.com"],
  ["ada@googlemail.com", "ada@gmail.com"],
  ["a.da@example.com", "a.da@example.com"],
  ["ada@xn--a.example", "ada@xn--a.example"],
])("%s is the mailbox %s", (email, key) => {
  expect(mailboxKey(email)).toBe(key);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:0201", "192.0.2.1"],
  ["0:0:0:0:0:ffff:c000:201", "192.0.2.1"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:0DB8:0001:0002:ffff:0:0:1", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:3:4:5:6", "2001:db8:0:0::/64"],
  ["2001:db8:0::3:4:5:6", "2001:db8:0:0::/64"],
  ["1:0:0:2:3:4:5:6", "1:0:0:2::/64"],
  ["0:0:0:0:1:2:3:4", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
])("%s counts as %s, however it is written", (ip, network) => {
  expect(clientNetwork(ip)).toBe(network);
});

test("all networks in an IPv6 /48 together have four times the limit of one network", async () => {
  const ask = async (remoteAddress: string) => (await world.app.inject({ url: "/pictures/of-nobody.png", remoteAddress })).statusCode;
  const known = async (remoteAddress: string) => {
    const answer = await world.app.inject({ url: "/api/models", remoteAddress });
    return [answer.statusCode, answer.json().code, Number(answer.headers["retry-after"]) > 0];
  };
  for (let wave = 0; wave < 24; wave += 1)
    await Promise.all(Array.from({ length: 100 }, (_, index) => known(`2001:db8:5:${(wave * 100 + index).toString(16)}::1`)));
  expect(await known("2001:db8:5:ffff::1")).toEqual([429, "rate_limited", true]);
  expect((await known("2001:db8:6:1::1"))[0]).toBe(200);
  // Requests outside the API are not counted.
  expect(await ask("2001:db8:5:ffff::1")).toBe(404);
});

test("all addresses in an IPv6 /64 count towards one limit", async () => {
  const remaining = async (remoteAddress: string) =>
    Number((await world.app.inject({ url: "/api/models", remoteAddress })).headers["x-ratelimit-remaining"]);
  const first = await remaining("2001:db8:1:2::1");
  expect(await remaining("2001:db8:1:2:ffff::9")).toBe(first - 1);
  expect(await remaining("2001:db8:1:3::1")).toBe(first);
});
