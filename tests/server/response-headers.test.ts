/** What every response tells the browser: the policies, whether it may be stored, cookies; and /.well-known/security.txt. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuthApp } from "./auth-support.ts";
import { cookiesOf, createAuthApp, password } from "./auth-support.ts";

let product: AuthApp;
beforeAll(async () => {
  product = await createAuthApp({ PUBLIC_URL: "https://tessera.test", CONTACT_EMAIL: "team+security@tessera.test" });
});
afterAll(() => product.close());

const year = 365 * 24 * 60 * 60;
/** A page, a file, the API, a refusal, an address that can't be decoded, a method that is not allowed. */
const kinds = ["/", "/robots.txt", "/api/models", "/api/account", "/%", "/api/nothing", "/avatars/x/64.webp", "/.well-known/security.txt"];

function directivesOf(policy: unknown): Map<string, string> {
  return new Map(
    String(policy)
      .split(";")
      .map((directive) => directive.trim().split(/ (.*)/s, 2) as [string, string]),
  );
}

describe("every response", () => {
  it.each(kinds)("at %s has the policies, and opens nothing to other sites", async (url) => {
    const { headers } = await product.app.inject({ url, headers: { origin: "https://evil.example", accept: "text/html" } });
    const directives = directivesOf(headers["content-security-policy"]);
    expect(Object.fromEntries(directives)).toMatchObject({
      "script-src": "'self'",
      "style-src": "'self'",
      "object-src": "'none'",
      "base-uri": "'none'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
    });
    expect([...directives.values()].join(" ")).not.toMatch(/unsafe|https?:|\*/);
    const [, maxAge = ""] = /^max-age=(\d+); includeSubDomains$/.exec(String(headers["strict-transport-security"])) ?? [];
    expect(Number(maxAge)).toBeGreaterThanOrEqual(year);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "strict-origin" });
    expect(Object.keys(headers).filter((name) => /^access-control|^server$|powered/.test(name))).toEqual([]);
  });

  it("to a preflight allows other sites nothing, and TRACE is not known", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const preflight = await product.app.inject({ method: "OPTIONS", url: "/api/generations", headers });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    const trace = await product.app.inject({ method: "TRACE" as never, url: "/api/models", headers: { "x-secret": "echoed" } });
    expect(trace.statusCode).toBeGreaterThanOrEqual(400);
    expect(trace.body).not.toContain("echoed");
  });

  it("of the API may be stored by nobody, whatever the route", async () => {
    const { access_token } = await product.join();
    const paths = ["/api/account", "/api/account/sessions", "/api/account/exports", "/api/account/factors", "/api/credits/wallet"];
    for (const path of [...paths, "/api/conversations", "/api/models", "/api/environment"]) {
      const answer = await product.get(path, access_token);
      expect([path, answer.statusCode, answer.headers["cache-control"]]).toEqual([path, 200, "no-store"]);
    }
  });
});

describe("a cookie under https", () => {
  const attributes = "HttpOnly; SameSite=Strict; Secure";

  it("has a prefix that only this host can set, and is read under that name", async () => {
    const email = "ada@example.com";
    const signedUp = await product.post("/api/auth/sign-up", { email, password });
    expect(signedUp.headers["set-cookie"]).toMatch(new RegExp(`^__Host-sign-up=[^;]+; Path=/; Max-Age=\\d+; ${attributes}$`));
    const [token = ""] = await product.mailedTokens(email);
    const confirmed = await product.post("/api/auth/confirm", { token }, { headers: cookiesOf(signedUp) });
    expect(confirmed.headers["set-cookie"]).toMatch(new RegExp(`^__Host-device=[^;]+; Path=/; Max-Age=\\d+; ${attributes}$`));
    const refreshed = await product.post(
      "/api/auth/refresh",
      { refresh_token: confirmed.json<{ refresh_token: string }>().refresh_token },
      { headers: cookiesOf(confirmed) },
    );
    // The device is known: it gets no new cookie.
    expect([refreshed.statusCode, refreshed.headers["set-cookie"]]).toEqual([200, undefined]);
  });
});

describe("/.well-known/security.txt", () => {
  it("names the configured contact, its own address, and an end that is always ahead", async () => {
    const answer = await product.app.inject("/.well-known/security.txt");
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
    const fields = new Map(
      answer.body
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
    );
    expect(fields.get("Contact")).toBe("mailto:team%2Bsecurity@tessera.test");
    expect(fields.get("Canonical")).toBe("https://tessera.test/.well-known/security.txt");
    const ahead = Date.parse(fields.get("Expires") ?? "") - Date.now();
    expect(ahead).toBeGreaterThan(29 * 86_400_000);
    expect(ahead).toBeLessThan(year * 1_000);
  });
});
