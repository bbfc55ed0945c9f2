/**
 * Five tabs of one person through an hour, with a network that comes and goes. The hour is the pages' alone: playwright's clock moves it in
 * steps of a tick (specification §9), so the test takes seconds. The server's clock stands still meanwhile; what a refresh answers about
 * the end of a token is moved along. The network follows a seed, which is printed on failure; FIVE_TABS_SEED repeats a run.
 */
import type { BrowserContext, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Session } from "#contract/auth/sign-in.ts";
import { minuteMs } from "#domain/clock.ts";
import { full } from "#tests/support/full.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import type { Stage } from "./support.ts";
import { deviceOf, setStage } from "./support.ts";

const seed = Number(process.env.FIVE_TABS_SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000);
const tickMs = minuteMs / 2;
/** An hour, or half of one. */
const ticks = full ? 120 : 60;
/** A token lives ten minutes and is exchanged at the first tick in its last ninety seconds. */
const periodMs = 10 * minuteMs - 90_000;
const addresses = ["/", "/ai-models", "/profile", "/profile/security", "/pricing"];

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 150_000);
afterAll(() => stage?.close());

/** Between the pages and the server, for the calls that exchange a token. */
class Exchange {
  isCut = false;
  /** Whether the next answer gets lost on its way, after the server has exchanged the token. */
  losesNext = false;
  lost = 0;
  readonly refused: number[] = [];
  /** The exchanges whose answer arrived: when, by the pages' clock, and of which token. */
  readonly arrived: { atMs: number; token: string }[] = [];
  private readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  async handle(route: Route): Promise<void> {
    if (this.isCut) return route.abort("internetdisconnected");
    const response = await route.fetch();
    if (!response.ok()) {
      this.refused.push(response.status());
      return route.fulfill({ response });
    }
    if (this.losesNext) {
      this.losesNext = false;
      this.lost += 1;
      return route.abort("connectionreset");
    }
    const { refresh_token: token } = route.request().postDataJSON() as Session;
    const atMs = this.nowMs();
    const session = (await response.json()) as Session;
    const expires_at = Math.floor(atMs / 1_000) + session.expires_in;
    await route.fulfill({ response, json: { ...session, expires_at } });
    // While a busy machine answered, the pages' clock may have passed the time that they wait for an answer.
    if (route.request().failure() === null) this.arrived.push({ atMs, token });
  }
}

/** What a tab hears from the others and itself on the channel of the session. */
interface Heard {
  token?: string;
  events: string[];
}

function listen(): void {
  const heard: Heard = { events: [] };
  Object.assign(globalThis, { heard });
  new BroadcastChannel("session").onmessage = (message) => {
    const { data } = message as unknown as { data: { event: string; session: Session | null } };
    heard.events.push(data.event);
    if (data.session) heard.token = data.session.refresh_token;
  };
}

const heardBy = (tab: Page) => tab.evaluate(() => (globalThis as unknown as { heard: Heard }).heard);

async function storedToken(tab: Page): Promise<string | undefined> {
  return tab.evaluate(() => (JSON.parse(localStorage.getItem("session") ?? "null") as Session | null)?.refresh_token);
}

/** Waits until no tab is exchanging a token and each has heard of the last exchange. What they do later waits for the clock. */
async function settle(tabs: readonly [Page, ...Page[]], exchange: Exchange): Promise<void> {
  const busy = () =>
    tabs[0].evaluate(async () => {
      const { held = [], pending = [] } = await navigator.locks.query();
      return [...held, ...pending].filter(({ name }) => name === "session-refresh").length;
    });
  await expect.poll(busy).toBe(0);
  if (exchange.arrived.length === 0) return;
  const token = await storedToken(tabs[0]);
  const heard = async () => (await Promise.all(tabs.map(heardBy))).map((each) => each.token);
  await expect.poll(heard).toEqual(tabs.map(() => token));
}

async function openTabs(context: BrowserContext): Promise<[Page, ...Page[]]> {
  const open = async (address: string) => {
    const page = await context.newPage();
    await page.goto(`${stage.url}${address}`);
    await page.locator("html[data-live]").waitFor({ state: "attached" });
    return page;
  };
  const [first = "/", ...others] = addresses;
  const tabs: [Page, ...Page[]] = [await open(first)];
  for (const address of others) tabs.push(await open(address));
  return tabs;
}

it(`five tabs stay signed in for an hour${full ? "" : ", half of it here,"} while the network comes and goes, and exchange the token once a period (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const context = await deviceOf(stage, await stage.person(false));
  let nowMs = Date.now();
  const exchange = new Exchange(() => nowMs);
  await context.addInitScript(listen);
  await context.route("**/api/auth/refresh", (route) => exchange.handle(route));
  await context.clock.install();
  const tabs = await openTabs(context);
  // From here on their time passes only here.
  nowMs = Date.now() + minuteMs;
  await context.clock.pauseAt(nowMs);

  async function pass(durationMs: number): Promise<void> {
    nowMs += durationMs;
    await context.clock.runFor(durationMs);
    await settle(tabs, exchange);
  }
  async function setNetwork(isCut: boolean): Promise<void> {
    exchange.isCut = isCut;
    await context.setOffline(isCut);
    await settle(tabs, exchange);
  }

  for (let tick = 0; tick < ticks; tick += 1) {
    const [changes, loses] = [random(100), random(100)];
    if (exchange.isCut ? changes < 25 : changes < 8) await setNetwork(!exchange.isCut);
    exchange.losesNext = loses < 30;
    await pass(tickMs);
    // The first retry comes after 200 ms: within the time in which the server answers the same once more.
    if (!exchange.isCut) await pass(250);
    expect(await storedToken(tabs[0]), `signed out at tick ${tick}`).toBeDefined();
  }
  exchange.losesNext = false;
  if (exchange.isCut) await setNetwork(false);
  await pass(tickMs);

  expect(exchange.refused).toEqual([]);
  for (const { events } of await Promise.all(tabs.map(heardBy))) expect(new Set(events)).toEqual(new Set(["TOKEN_REFRESHED"]));
  expect(new Set(exchange.arrived.map(({ token }) => token)).size).toBe(exchange.arrived.length);
  expect(exchange.arrived.length).toBeGreaterThan(full ? 2 : 1);
  const pauses = exchange.arrived.slice(1).map(({ atMs }, index) => atMs - (exchange.arrived[index]?.atMs ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(periodMs);
  for (const tab of tabs) {
    const banner = tab.getByRole("banner");
    expect(await banner.getByRole("link", { name: /^Your account/ }).count()).toBe(1);
    expect(await banner.getByRole("link", { name: "Sign in" }).count()).toBe(0);
  }
  await context.close();
}, 300_000);
