import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import nodemailer from "nodemailer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSandboxEnvironment, SandboxEnvironmentError } from "#sandbox/environment.ts";
import { freePort } from "#server/embedded/processes.ts";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";
import { until } from "#tests/support/until.ts";

let sandbox: RunningSandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ SANDBOX_STRIPE: "off" });
});

afterAll(async () => {
  await sandbox.close();
});

const form = { "content-type": "application/x-www-form-urlencoded" };

function post(address: string, headers: Record<string, string>, body: string): Promise<Response> {
  return fetch(`${sandbox.url}${address}`, { method: "POST", headers, body, redirect: "manual" });
}

describe("one endpoint for people and scripts", () => {
  test("a form sent by a browser redirects to its part of the page; a script's form or JSON gets JSON", async () => {
    const asPerson = await post("/models/fault", { ...form, accept: "text/html" }, "model=gpt-5&fault=empty&count=2&afterTokens=");
    expect(asPerson.status).toBe(303);
    expect(asPerson.headers.get("location")).toBe("/?done=models#models");
    const asScript = await post("/models/fault", form, "model=gpt-5&fault=");
    expect(await asScript.json()).toEqual({ faults: [] });
    const paced = await post("/models/pace", { "content-type": "application/json" }, '{"paceMs":20}');
    expect(await paced.json()).toEqual({ paceMs: 20 });
  });

  test("an error is a page for browsers and a problem document with a code for scripts", async () => {
    const asPerson = await fetch(`${sandbox.url}/nowhere`, { headers: { accept: "text/html" } });
    expect(asPerson.status).toBe(404);
    expect(await asPerson.text()).toContain("There is nothing at this address.");
    const asScript = await post("/models/pace", { "content-type": "application/json" }, '{"paceMs":-1}');
    expect(asScript.headers.get("content-type")).toContain("application/problem+json");
    expect(await asScript.json()).toMatchObject({ status: 400, code: "validation_failed", fields: [{ field: "paceMs" }] });
  });

  test.each([
    ["/clock", "{", 400],
    ["/models/fault", "[]", 400],
    ["/models/fault", "null", 400],
    ["/models/pace", '{"paceMs":1e99}', 400],
    ["/models/pace", `{"paceMs":"${"9".repeat(20_000)}"}`, 400],
    ["/models/fault", `"${"x".repeat(2_000_000)}"`, 413],
  ])("bad input at %s gets a problem document", async (address, body, status) => {
    const response = await post(address, { "content-type": "application/json" }, body);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
  });

  test("with the real Stripe neither its time nor its events can be changed", async () => {
    for (const [address, body] of [
      ["/clock", '{"advance":"P1M"}'],
      ["/stripe/fault", '{"fault":"lose"}'],
      ["/stripe/api-fault", '{"fault":"cut"}'],
    ] as const) {
      const response = await post(address, { "content-type": "application/json" }, body);
      expect(response.status).toBe(409);
      expect(await response.json()).toMatchObject({ code: "stripe_not_sandboxed" });
    }
  });
});

describe("who may change the sandbox", () => {
  test.each([
    ["a foreign origin", { origin: "https://evil.example" }, 403],
    ["another port of this host", { origin: "http://127.0.0.1:1" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["a cross-site request", { "sec-fetch-site": "cross-site" }, 403],
    ["a same-site request", { "sec-fetch-site": "same-site" }, 403],
    ["its own page", { "sec-fetch-site": "same-origin", origin: "null" }, 200],
    ["a script", {}, 200],
  ])("%s: %o → %i", async (_name, headers, status) => {
    expect((await post("/models/fault", { ...form, ...headers }, "model=gpt-5&fault=")).status).toBe(status);
  });

  test("a form from the sandbox's own origin is accepted; a request with another host name gets a 421", async () => {
    expect((await post("/models/fault", { ...form, origin: sandbox.url }, "model=gpt-5&fault=")).status).toBe(200);
    const rebound = await sandbox.app.inject({ url: "/mail", headers: { host: "evil.example:3001" } });
    expect(rebound.statusCode).toBe(421);
  });
});

describe("the page", () => {
  test("shows mails escaped, and their HTML in a sandboxed document without scripts or external resources", async () => {
    await nodemailer.createTransport(`smtp://127.0.0.1:${sandbox.smtpPort}`).sendMail({
      from: "a@b.example",
      to: "page@example.com",
      subject: "<script>alert(1)</script>",
      text: "x",
      html: '<script>alert(2)</script><a href="http://127.0.0.1:3000/confirm">go</a>',
    });
    const page = await fetch(`${sandbox.url}/`);
    const text = await page.text();
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).not.toContain("<script>alert");
    expect(text).not.toMatch(/ style=| on\w+=/);
    const id = /\/mail\/(\d+)\/body/.exec(text)?.[1];
    const body = await fetch(`${sandbox.url}/mail/${id}/body`);
    expect(body.headers.get("content-security-policy")).toMatch(/^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/);
    expect((await fetch(`${sandbox.url}/mail/999999/body`)).status).toBe(404);
  });
});

describe("its environment and process", () => {
  test("each error is reported in one line, and so is NODE_ENV=production", () => {
    const read = () =>
      readSandboxEnvironment({
        NODE_ENV: "production",
        SANDBOX_PORT: "x",
        SANDBOX_SMTP_PORT: "70000",
        PRODUCT_URL: "ftp://a",
        SANDBOX_STRIPE: "maybe",
      });
    expect(read).toThrow(SandboxEnvironmentError);
    expect(read).toThrow(
      /production[\s\S]*SANDBOX_TOKEN is missing[\s\S]*SANDBOX_PORT=x[\s\S]*PRODUCT_URL[\s\S]*SANDBOX_SMTP_PORT=70000[\s\S]*SANDBOX_STRIPE=maybe/,
    );
  });

  test.each(["disconnect", "SIGTERM"] as const)(
    "reports when it is ready and ends within its deadline on %s, even with a hanging answer",
    async (end) => {
      const folder = await mkdtemp(path.join(tmpdir(), "tessera-sandbox-process-"));
      const port = await freePort();
      const child = fork("sandbox/main.ts", {
        env: { PATH: process.env.PATH, DATA_DIR: folder, SANDBOX_PORT: String(port), SANDBOX_TOKEN: "t", SANDBOX_STRIPE: "off" },
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      const [message] = await once(child, "message");
      expect(message).toMatchObject({ type: "ready", url: `http://127.0.0.1:${port}`, smtpPort: expect.any(Number) });
      const origin = `http://127.0.0.1:${port}`;
      await fetch(`${origin}/models/fault`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"model":"*","fault":"hang"}',
      });
      const hanging = fetch(`${origin}/providers/openai/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer x" },
        body: '{"model":"gpt-6-luna","messages":[{"role":"user","content":"hi"}]}',
      }).catch(() => "cut");
      await until(async () => (await (await fetch(`${origin}/models/calls`)).text()).includes("running"), "the call on the page");
      const ended = once(child, "exit");
      if (end === "disconnect") child.disconnect();
      else child.kill("SIGTERM");
      expect((await ended)[0]).toBe(0);
      expect(await hanging).toBe("cut");
      await rm(folder, { recursive: true, force: true });
    },
  );
});
