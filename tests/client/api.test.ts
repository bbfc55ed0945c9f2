import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ApiProblem, api, NetworkProblem, provideBearers } from "#client/lib/api.ts";
import { stubPage } from "./page-stubs.ts";

const server = setupServer();
stubPage();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => provideBearers({ current: async () => null, replace: async () => null }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

describe("an API call", () => {
  it("fills in path, query and body as the contract defines them", async () => {
    const seen: string[] = [];
    server.use(
      http.get("http://tessera.test/api/conversations/:id", ({ request }) => {
        seen.push(new URL(request.url).pathname);
        return HttpResponse.json({});
      }),
      http.get("http://tessera.test/api/conversations", ({ request }) => {
        seen.push(new URL(request.url).search);
        return HttpResponse.json({});
      }),
      http.post("http://tessera.test/api/auth/sign-in", async ({ request }) => {
        seen.push(await request.text());
        return HttpResponse.json({});
      }),
    );
    await api("GET /api/conversations/:id", { params: { id: "a/b" } });
    await api("GET /api/conversations", { querystring: { cursor: "x y", limit: 2 } });
    await api("POST /api/auth/sign-in", { body: { email: "a@b.co", password: "p" } });
    expect(seen).toEqual(["/api/conversations/a%2Fb", "?cursor=x+y&limit=2", '{"email":"a@b.co","password":"p"}']);
  });

  it("throws the problem with its code and details", async () => {
    server.use(
      http.get("http://tessera.test/api/account", () =>
        HttpResponse.json(
          {
            code: "insufficient_credits",
            detail: "no",
            needed: 5,
            available: 3,
            type: "about:blank",
            title: "x",
            status: 402,
            error: "no",
          },
          { status: 402, headers: { "content-type": "application/problem+json", "retry-after": "7" } },
        ),
      ),
    );
    const error = await api("GET /api/account").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiProblem);
    expect(error).toMatchObject({ code: "insufficient_credits", status: 402, needed: 5, available: 3, retryAfterSeconds: 7 });
  });

  it("reports an error without a readable body as unexpected, and a broken connection as a network problem", async () => {
    server.use(http.get("http://tessera.test/api/account", () => new HttpResponse("<html>", { status: 502 })));
    await expect(api("GET /api/account")).rejects.toMatchObject({ name: "ApiProblem", code: "unexpected", status: 502 });
    server.use(http.get("http://tessera.test/api/account", () => HttpResponse.error()));
    await expect(api("GET /api/account")).rejects.toBeInstanceOf(NetworkProblem);
  });

  it("refreshes the token and repeats the call after a 401, once only", async () => {
    const seen: (string | null)[] = [];
    provideBearers({ current: async () => "old", replace: async (refused) => (refused === "old" ? "new" : null) });
    server.use(
      http.get("http://tessera.test/api/account", ({ request }) => {
        seen.push(request.headers.get("authorization"));
        return HttpResponse.json({ code: "unauthenticated" }, { status: 401 });
      }),
    );
    await expect(api("GET /api/account")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
  });

  it("sends no token when signing in, because a wrong password must not sign anybody out", async () => {
    const seen: (string | null)[] = [];
    provideBearers({ current: async () => "old", replace: async () => expect.unreachable() });
    server.use(
      http.post("http://tessera.test/api/auth/sign-in", ({ request }) => {
        seen.push(request.headers.get("authorization"));
        return HttpResponse.json({ code: "invalid_credentials" }, { status: 401 });
      }),
    );
    const body = { email: "a@b.co", password: "p" };
    await expect(api("POST /api/auth/sign-in", { body })).rejects.toMatchObject({ code: "invalid_credentials" });
    expect(seen).toEqual([null]);
  });

  it("rejects with an AbortError when it is aborted", async () => {
    server.use(http.get("http://tessera.test/api/account", () => new Promise<never>(() => undefined)));
    const controller = new AbortController();
    const call = api("GET /api/account", { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });
});
