import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { origin, stubPage } from "./page-stubs.ts";

const server = setupServer();
const refreshAddress = `${origin}/api/auth/refresh`;
const user = { id: "0198c0de-0000-7000-8000-000000000001", email: "ada@example.com", user_metadata: { avatar_url: null } };

function sessionOf(generation: number, lifeSeconds = 600): Session {
  const expires_at = Math.floor(Date.now() / 1000) + lifeSeconds;
  const tokens = { access_token: `access-${generation}`, refresh_token: `refresh-${generation}` };
  return { ...tokens, expires_at, expires_in: lifeSeconds, token_type: "bearer", user };
}

/** Simulates a tab: its own copy of the client's modules, with the storage that all tabs share. */
async function openTab() {
  vi.resetModules();
  const store = await import("#client/lib/session-store.ts");
  const refresh = await import("#client/lib/session-refresh.ts");
  const api = await import("#client/lib/api.ts");
  const events: string[] = [];
  store.onAuthEvent((event) => events.push(event));
  const close = refresh.startSession();
  closers.push(close);
  return { ...store, ...refresh, ...api, events, close };
}

/** Waits for requests and messages between tabs without advancing the fake timers. */
async function settle(until: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !until(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(until()).toBe(true);
}

let closers: (() => void)[] = [];
let page: ReturnType<typeof stubPage>;
let refreshes: string[] = [];

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  page = stubPage();
  refreshes = [];
  server.use(
    http.post(refreshAddress, async ({ request }) => {
      const { refresh_token } = (await request.json()) as { refresh_token: string };
      refreshes.push(refresh_token);
      return HttpResponse.json(sessionOf(Number(refresh_token.split("-")[1]) + 1));
    }),
  );
});
afterEach(() => {
  for (const close of closers) close();
  closers = [];
  server.resetHandlers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
afterAll(() => server.close());

function store(session: unknown): void {
  page.storage.set("session", JSON.stringify(session));
}

function stored(): Session | null {
  return JSON.parse(page.storage.get("session") ?? "null") as Session | null;
}

describe("session storage (specification §3)", () => {
  it("stores exactly the specified fields under the key session", async () => {
    const tab = await openTab();
    tab.adoptSession({ ...sessionOf(1), role: "admin", user: { ...user, password: "x" } } as Session, "SIGNED_IN");
    expect(Object.keys(stored() ?? {}).sort()).toEqual(["access_token", "expires_at", "expires_in", "refresh_token", "token_type", "user"]);
    expect(stored()?.user).toEqual(user);
  });

  it("treats damaged storage as signed out", async () => {
    for (const damaged of ["{", "null", '{"access_token":1}', "[]", '"session"']) {
      page.storage.set("session", damaged);
      const tab = await openTab();
      expect(tab.sessionStore.getState()).toEqual({ status: "signed_out", user: null });
    }
  });
});

describe("a change of the person", () => {
  const changed = { ...user, user_metadata: { avatar_url: "/avatars/a/96.webp", name: "Ada" } };

  it("reaches every tab with a new session, from which nothing of the old one is written back", async () => {
    store(sessionOf(1));
    const [first, second] = [await openTab(), await openTab()];
    server.use(http.post(refreshAddress, () => HttpResponse.json({ ...sessionOf(2), user: changed })));
    await first.refreshUser();
    await settle(() => second.events.length > 0);
    expect([first.events, second.events]).toEqual([["USER_UPDATED"], ["USER_UPDATED"]]);
    for (const tab of [first, second]) expect(tab.sessionStore.getState().user).toEqual(changed);
    expect(stored()).toMatchObject({ refresh_token: "refresh-2", user: changed });
  });

  it("doesn't join a refresh that may have been answered before it, and uses the token of that one", async () => {
    store(sessionOf(1));
    const tab = await openTab();
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    server.use(
      http.post(refreshAddress, async ({ request }) => {
        const { refresh_token } = (await request.json()) as { refresh_token: string };
        refreshes.push(refresh_token);
        if (refreshes.length > 1) return HttpResponse.json({ ...sessionOf(3), user: changed });
        await held;
        return HttpResponse.json(sessionOf(2));
      }),
    );
    const earlier = tab.refreshSession();
    await settle(() => refreshes.length === 1);
    const update = tab.refreshUser();
    answer();
    await Promise.all([earlier, update]);
    expect(refreshes).toEqual(["refresh-1", "refresh-2"]);
    expect(stored()).toMatchObject({ refresh_token: "refresh-3", user: changed });
  });
});

describe("session timers (specification §9)", () => {
  it("refresh at the first tick when 90 seconds or less are left, and not before", async () => {
    store(sessionOf(1));
    const tab = await openTab();
    await vi.advanceTimersByTimeAsync(480_000);
    expect(refreshes).toEqual([]);
    await vi.advanceTimersByTimeAsync(30_000);
    await settle(() => tab.events.includes("TOKEN_REFRESHED"));
    expect(refreshes).toEqual(["refresh-1"]);
    expect(stored()?.access_token).toBe("access-2");
    expect(tab.sessionStore.getState().user).toEqual(user);
  });

  it("retry after 200 ms, doubling, for up to 30 seconds if the server fails; the session stays", async () => {
    const at: number[] = [];
    const started = Date.now();
    server.use(
      http.post(refreshAddress, () => {
        at.push(Date.now() - started);
        return at.length % 2 === 0 ? HttpResponse.error() : new HttpResponse(null, { status: 503 });
      }),
    );
    store(sessionOf(1, 60));
    const tab = await openTab();
    for (let second = 0; second < 145; second += 1) {
      await settle(() => true);
      await vi.advanceTimersByTimeAsync(200);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(at.slice(0, 8)).toEqual([0, 200, 600, 1400, 3000, 6200, 12600, 25400]);
    expect(at).toHaveLength(8);
    expect(tab.sessionStore.getState().status).toBe("signed_in");
  });

  it("sign out when the refresh is refused, without a retry", async () => {
    let refusals = 0;
    server.use(
      http.post(refreshAddress, () => {
        refusals += 1;
        return HttpResponse.json({ code: "session_expired" }, { status: 401 });
      }),
    );
    store(sessionOf(1, 10));
    const tab = await openTab();
    await settle(() => tab.events.includes("SIGNED_OUT"));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(refusals).toBe(1);
    expect(stored()).toBeNull();
    expect(tab.sessionStore.getState()).toEqual({ status: "signed_out", user: null });
  });

  it("of a deleted account end in every tab, which then keep nothing of the person", async () => {
    server.use(http.post(refreshAddress, () => HttpResponse.json({ code: "account_deleted" }, { status: 401 })));
    store(sessionOf(1, 600));
    const other = await openTab();
    store(sessionOf(1, 10));
    const tab = await openTab();
    await settle(() => other.sessionStore.getState().deletedId !== undefined);
    for (const { sessionStore, events } of [tab, other]) {
      expect(events).toContain("SIGNED_OUT");
      expect(sessionStore.getState()).toEqual({ status: "signed_out", user: null, deletedId: user.id });
    }
    tab.adoptSession(sessionOf(2), "SIGNED_IN");
    expect(tab.sessionStore.getState().deletedId).toBeUndefined();
  });

  it("use the session's duration, so that a wrong clock on the device does no harm", async () => {
    const tab = await openTab();
    tab.adoptSession({ ...sessionOf(1), expires_at: Math.floor(Date.now() / 1000) - 86_400 }, "SIGNED_IN");
    expect(await tab.currentToken()).toBe("access-1");
    expect(refreshes).toEqual([]);
  });
});

describe("parallel tabs", () => {
  it("refresh once: the other tabs take over the first one's new session", async () => {
    const gate = Promise.withResolvers<void>();
    server.use(
      http.post(refreshAddress, async ({ request }) => {
        const { refresh_token } = (await request.json()) as { refresh_token: string };
        refreshes.push(refresh_token);
        // Hold the first response until every tab is open and wants to refresh.
        await gate.promise;
        return HttpResponse.json(sessionOf(Number(refresh_token.split("-")[1]) + 1));
      }),
    );
    store(sessionOf(1, 30));
    const tabs: Awaited<ReturnType<typeof openTab>>[] = [];
    for (let count = 0; count < 5; count += 1) tabs.push(await openTab());
    gate.resolve();
    await settle(() => tabs.every((tab) => tab.currentSession()?.access_token === "access-2"));
    expect(new Set(tabs.map((tab) => tab.sessionStore)).size).toBe(5);
    expect(refreshes).toEqual(["refresh-1"]);
    expect(stored()?.refresh_token).toBe("refresh-2");
  });

  it("don't refresh again what another tab refreshed while they waited for their turn", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const turn = navigator.locks.request("session-refresh", () => held);
    store(sessionOf(1, 30));
    const [waiting, other] = [await openTab(), await openTab()];
    other.adoptSession(sessionOf(2), "TOKEN_REFRESHED");
    await settle(() => waiting.events.length === 1);
    const refreshed = waiting.refreshSession();
    release();
    await turn;
    await expect(refreshed).resolves.toBe("access-2");
    expect(refreshes).toEqual([]);
  });

  it("don't try again what another tab did after their first try", async () => {
    let failures = 0;
    server.use(
      http.post(refreshAddress, () => {
        failures += 1;
        return new HttpResponse(null, { status: 503 });
      }),
    );
    store(sessionOf(1, 60));
    const failing = await openTab();
    await settle(() => failures === 1);
    const other = await openTab();
    await settle(() => failures === 2);
    other.adoptSession(sessionOf(2), "TOKEN_REFRESHED");
    await settle(() => failing.events.length === 1);
    await vi.advanceTimersByTimeAsync(30_000);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(failures).toBe(2);
  });

  it("receive every event, and sign out together", async () => {
    const first = await openTab();
    const second = await openTab();
    for (const event of ["SIGNED_IN", "USER_UPDATED", "MFA_CHALLENGE_VERIFIED", "PASSWORD_RECOVERY"] as const)
      first.adoptSession(sessionOf(1), event);
    server.use(http.post(`${origin}/api/auth/sign-out`, () => new HttpResponse(null, { status: 204 })));
    await settle(() => second.events.length === 4);
    expect(second.sessionStore.getState()).toEqual({ status: "signed_in", user });
    await expect(first.signOut()).resolves.toBe(true);
    await settle(() => second.events.length === 5);
    expect(second.events).toEqual(["SIGNED_IN", "USER_UPDATED", "MFA_CHALLENGE_VERIFIED", "PASSWORD_RECOVERY", "SIGNED_OUT"]);
    expect(second.sessionStore.getState()).toEqual({ status: "signed_out", user: null });
    expect(stored()).toBeNull();
  });

  it("hear MFA_CHALLENGE_VERIFIED after the code of a second factor, and PASSWORD_RECOVERY after a new password by a link", async () => {
    const first = await openTab();
    const { answerFactor, resetPassword, signIn } = await import("#client/features/auth/auth-calls.ts");
    const second = await openTab();
    const needed = { status: "factor_needed", token: "pending", methods: ["totp"] };
    server.use(
      http.post(`${origin}/api/auth/sign-in`, () => HttpResponse.json(needed)),
      http.post(`${origin}/api/auth/factor`, () => HttpResponse.json(sessionOf(1))),
      http.post(`${origin}/api/auth/reset-password`, () => HttpResponse.json({ session: sessionOf(2) })),
      http.post(`${origin}/api/auth/sign-out`, () => new HttpResponse(null, { status: 204 })),
    );
    await signIn(user.email, "a tessera 4 two");
    expect(first.events).toEqual([]);
    await answerFactor("pending", "123456");
    await resetPassword("token", user.email, "another tessera 4 two");
    const expected = ["MFA_CHALLENGE_VERIFIED", "PASSWORD_RECOVERY"];
    await settle(() => second.events.length === expected.length);
    expect([first.events, second.events]).toEqual([expected, expected]);
    expect(second.currentSession()?.access_token).toBe("access-2");
  });

  it("end the session that a sign-in on the page replaces, and the sign-in succeeds even if that fails", async () => {
    store(sessionOf(1));
    const tab = await openTab();
    const { signIn } = await import("#client/features/auth/auth-calls.ts");
    const ended: unknown[] = [];
    let next = 2;
    server.use(
      http.post(`${origin}/api/auth/sign-in`, () => HttpResponse.json(sessionOf(next))),
      http.post(`${origin}/api/auth/sign-out`, async ({ request }) => {
        ended.push(await request.json());
        return new HttpResponse(null, { status: ended.length === 1 ? 204 : 503 });
      }),
    );
    await signIn(user.email, "a tessera 4 two");
    next = 3;
    await signIn(user.email, "a tessera 4 two");
    await settle(() => ended.length === 2);
    expect(ended).toEqual([{ refresh_token: "refresh-1" }, { refresh_token: "refresh-2" }]);
    expect(tab.currentSession()?.refresh_token).toBe("refresh-3");
    expect(tab.events).toEqual(["SIGNED_IN", "SIGNED_IN"]);
  });

  it("that were suspended during a sign-out notice it when they resume", async () => {
    store(sessionOf(1));
    const tab = await openTab();
    page.storage.delete("session");
    page.fire("visibilitychange");
    expect(tab.sessionStore.getState().status).toBe("signed_out");
    expect(tab.events).toEqual(["SIGNED_OUT"]);
  });

  it("that were refreshing while another tab signed out stay signed out, even before its message arrives", async () => {
    store(sessionOf(1, 60));
    server.use(
      http.post(refreshAddress, () => {
        page.storage.delete("session");
        return HttpResponse.json(sessionOf(2));
      }),
    );
    const tab = await openTab();
    await expect(tab.refreshSession()).resolves.toBeNull();
    expect(tab.sessionStore.getState()).toEqual({ status: "signed_out", user: null });
    expect(stored()).toBeNull();
  });

  it("stay signed in until they are closed if the device can't store the session", async () => {
    vi.stubGlobal("localStorage", {
      ...localStorage,
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    });
    const tab = await openTab();
    tab.adoptSession(sessionOf(1), "SIGNED_IN");
    page.fire("visibilitychange");
    expect(tab.sessionStore.getState()).toEqual({ status: "signed_in", user });
    expect(tab.events).toEqual(["SIGNED_IN"]);
  });
});

describe("calls", () => {
  it("with an expired token refresh it first, once for all of them", async () => {
    const bearers: (string | null)[] = [];
    server.use(
      http.get(`${origin}/api/account`, ({ request }) => {
        bearers.push(request.headers.get("authorization"));
        return HttpResponse.json({});
      }),
    );
    store(sessionOf(1, -5));
    const tab = await openTab();
    await Promise.all([tab.api("GET /api/account"), tab.api("GET /api/account"), tab.api("GET /api/account")]);
    expect(bearers).toEqual(["Bearer access-2", "Bearer access-2", "Bearer access-2"]);
    expect(refreshes).toEqual(["refresh-1"]);
  });

  it("refused for one person are never repeated as another", async () => {
    const grace = { ...user, id: "0198c0de-0000-7000-8000-000000000002", email: "grace@example.com" };
    const bearers: (string | null)[] = [];
    store(sessionOf(1));
    const tab = await openTab();
    server.use(
      http.get(`${origin}/api/account`, ({ request }) => {
        bearers.push(request.headers.get("authorization"));
        tab.adoptSession({ ...sessionOf(7), user: grace }, "SIGNED_IN");
        return HttpResponse.json({ code: "unauthorized" }, { status: 401 });
      }),
    );
    await expect(tab.api("GET /api/account")).rejects.toMatchObject({ status: 401 });
    expect(bearers).toEqual(["Bearer access-1"]);
  });

  it("sign out on this device even if the server can't be reached, and report that", async () => {
    server.use(http.post(`${origin}/api/auth/sign-out`, () => HttpResponse.error()));
    store(sessionOf(1));
    const tab = await openTab();
    await expect(tab.signOut()).resolves.toBe(false);
    expect(stored()).toBeNull();
  });
});
