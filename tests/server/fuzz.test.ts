/** Sends random requests to every route of the OpenAPI document: each gets a proper answer or refusal, and none has other effects. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { createServer } from "node:net";
import type { LightMyRequestResponse } from "fastify";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StartEvent, Turn } from "#contract/generations/generations.ts";
import { contactCategories } from "#domain/contact.ts";
import { refusals } from "#domain/errors.ts";
import { catalogue } from "#domain/models.ts";
import { billingIntervals, planList, priceIdOf } from "#domain/plans.ts";
import { buildApp } from "#server/app.ts";
import { readConfig } from "#server/config.ts";
import { createDeps, createLogger } from "#server/deps.ts";
import { linkToken } from "#server/features/notifications/links.ts";
import { expectBooksAgree } from "#tests/support/books.ts";
import { testEnvironment } from "#tests/support/deps.ts";
import { full } from "#tests/support/full.ts";
import type { Caller, FuzzCall, FuzzRequest, Ingredients, OpenApi } from "#tests/support/fuzz-requests.ts";
import { RequestMaker, routesOf } from "#tests/support/fuzz-requests.ts";
import { seededRandom } from "#tests/support/ledger-model.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { createTestDatabase } from "#tests/support/postgres.ts";
import type { RunningSandbox } from "#tests/support/sandbox.ts";
import { startSandbox } from "#tests/support/sandbox.ts";

const requestCount = full ? 25_000 : 3_000;
const atOnce = 16;
const answerTimeoutMs = 30_000;
/** Well-formed questions between the mutated requests, which rarely start an answer. */
const questionCount = 20;
/** A new seed for each run, printed on failure; FUZZ_SEED repeats a run. */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000);

const password = "a tessera 4 the fuzzer";
/** What an error response must never contain: stack frames, paths of our files, SQL and PostgreSQL's messages. */
const innards =
  /\n\s+at |node_modules|\.ts:\d|\bselect\b.+\bfrom\b|insert into|SQLSTATE|syntax error|violates|invalid byte sequence|relation "/i;
const unavailable: Record<string, number> = { model_unavailable: 503, payment_provider_unavailable: 502, service_unavailable: 503 };

let database: TestDatabase;
let sandbox: RunningSandbox;
let deps: ReturnType<typeof createDeps>;
let app: Awaited<ReturnType<typeof buildApp>>;
let logged = "";
/** Nobody may ask it: the requests name its address where a server could take it for one to fetch. */
let elsewhere: Server;
let askedElsewhere = 0;
const secrets: string[] = [password];

async function post(url: string, payload: object, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
  return app.inject({ method: "POST", url, payload, headers });
}

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Creates somebody who is subscribed; resolves with the header that names them. */
async function signInAs(kind: Caller["kind"]): Promise<string> {
  const person = await createPerson({ app }, database.db, { plan: "enterprise", credits: 1_000 });
  if (kind === "admin") await database.db.updateTable("users").set({ role: "admin" }).where("id", "=", person.userId).execute();
  secrets.push(person.token);
  return bearer(person.token).authorization;
}

const pictureFormats = ["png", "jpeg", "gif", "webp", "avif"] as const;
const aPicture = sharp({ create: { width: 40, height: 30, channels: 3, background: "#a63d22" } });

interface Member {
  token: string;
  refreshTokens: string[];
  mailedToken: string;
}

/** Signs up and in through the API. */
async function join(email: string): Promise<Member> {
  await post("/api/auth/sign-up", { email, password });
  const mail = await database.db.selectFrom("mails").select("parameters").where("recipient", "=", email).executeTakeFirstOrThrow();
  const mailedToken = linkToken(deps.config, String(mail.parameters.linkId));
  const confirmed = (await post("/api/auth/confirm", { token: mailedToken, password })).json();
  const signedIn = (await post("/api/auth/sign-in", { email, password })).json();
  const refreshTokens = [String(confirmed.refresh_token), String(signedIn.refresh_token)];
  secrets.push(mailedToken, ...refreshTokens, signedIn.access_token);
  return { token: signedIn.access_token, refreshTokens, mailedToken };
}

const question = { model: "gpt-6-luna", prompt: "What is a tessera?", quotedCredits: 1 };
const retired = { model: "dall-e-3", prompt: "A tessera", quotedCredits: 10 };

const start = (asked: object, { token }: TestPerson) =>
  post("/api/generations", asked, { ...bearer(token), "idempotency-key": randomUUID() });

/** Asks one question; resolves with the ids of its answer and conversation. */
async function ask(person: TestPerson): Promise<{ generationId: string } & Turn> {
  const answer = await start(question, person);
  const event = /^data: (.*)$/m.exec(answer.body)?.[1] ?? "{}";
  const { generationId, turn } = JSON.parse(event) as StartEvent;
  return { generationId, conversationId: "", questionId: "", answerId: "", ...turn };
}

/** Creates users for the requests: subscribers, users without a plan and one who signed up through the API. */
async function createIngredients(): Promise<Ingredients & { asked: string[]; asker: TestPerson; nobody: TestPerson; kinds: Caller[] }> {
  const subscriber = await createPerson({ app }, database.db, { plan: "enterprise", credits: 1_000_000 });
  const stranger = await createPerson({ app }, database.db, { plan: "starter", credits: 5 });
  const withoutPlan = await createPerson({ app }, database.db, { credits: 0 });
  // No mutated request names this one, so none begins a trial that would give them credits.
  const nobody = await createPerson({ app }, database.db, { credits: 0 });
  const asker = await createPerson({ app }, database.db, { plan: "enterprise", credits: 1_000 });
  const member = await join("member@example.com");
  const [own, foreign] = [await ask(subscriber), await ask(stranger)];
  secrets.push(subscriber.token, stranger.token, withoutPlan.token, nobody.token, asker.token);
  const [head = "", body = ""] = subscriber.token.split(".");
  const caller = ({ token }: { token: string }): Caller => ({ kind: "user", ...bearer(token) });
  const usual = caller(subscriber);
  const admin: Caller = { kind: "admin", authorization: await signInAs("admin") };
  const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${body}.`;
  return {
    asked: [own.generationId, foreign.generationId],
    asker,
    nobody,
    kinds: [usual, admin],
    elsewhere: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/x`,
    pictures: await Promise.all(pictureFormats.map((format) => aPicture.clone().toFormat(format).toBuffer())),
    known: {
      id: [own.generationId, own.conversationId, foreign.generationId, foreign.conversationId, own.generationId.toUpperCase()],
      conversationId: [own.conversationId, own.conversationId, own.conversationId, foreign.conversationId],
      parentId: [own.answerId, own.answerId, own.answerId, foreign.answerId, own.questionId],
      questionId: [own.questionId, own.questionId, own.questionId, foreign.questionId, own.answerId],
      headId: [own.answerId, foreign.answerId, own.questionId],
      email: ["member@example.com", "nobody@example.com", " Member@Example.com "],
      password: [password, "another 1 password"],
      token: [member.mailedToken, "x".repeat(43)],
      refresh_token: [...member.refreshTokens, "x".repeat(43)],
      language: ["en", "de", "tlh"],
      priceId: planList.flatMap(({ key }) => billingIntervals.map((interval) => priceIdOf(key, interval))),
      model: catalogue.map((model) => model.id),
      prompt: ["What is a tessera?", "1+1", " Why? "],
      quotedCredits: [1, 1, 5, 2],
      category: ["feedback", "feedback", ...contactCategories],
      "idempotency-key": ["key-of-the-first", "key-of-the-second", ...Array.from({ length: 60 }, () => randomUUID())],
      "last-event-id": ["0", "3", "999999999"],
      cursor: [own.generationId, Buffer.from(`2026-03-01T00:00:00.000Z ${own.conversationId}`).toString("base64url")],
      limit: [1, 100],
      now: [deps.clock.now().toISOString()],
    },
    callers: [...Array.from({ length: 8 }, () => usual), caller(stranger), caller(withoutPlan), caller(member), admin, admin, admin],
    unsoundAuthorizations: [
      bearer("token-of-the-tests").authorization,
      bearer(unsigned).authorization,
      bearer(`${head}.${body}.`).authorization,
      bearer(subscriber.token.slice(0, -3)).authorization,
      bearer(member.refreshTokens[0] ?? "").authorization,
      bearer("a".repeat(9_000)).authorization,
      bearer("...").authorization,
      "Bearer",
      "Bearer  ",
      "Basic bWVtYmVyOnBhc3M=",
      "\u00ff",
    ],
    sign: (payload) =>
      deps.payments.webhooks.generateTestHeaderString({
        payload,
        secret: deps.config.stripe.webhookSecrets[0] ?? "",
        timestamp: Math.floor(Date.now() / 1_000),
      }),
  };
}

const shown = (request: FuzzRequest) => ({
  ...request,
  payload: String(request.payload ?? "").slice(0, 400),
  url: request.url.slice(0, 400),
});

/** False if the caller was replaced since, or the request names another one. */
function isCalledBy(request: FuzzRequest, { authorization }: Caller): boolean {
  return authorization !== "" && request.headers.authorization === authorization;
}

async function answerInTime(request: FuzzRequest): Promise<LightMyRequestResponse> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${answerTimeoutMs} ms`)), answerTimeoutMs);
  });
  return Promise.race([app.inject({ ...request }), late]).finally(() => clearTimeout(timer));
}

/** True for the drawn page "not found": dots in a parameter can lead out of the API, to the address of a page. */
function isPageNotFound(request: FuzzRequest, answer: LightMyRequestResponse): boolean {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  return answer.statusCode === 404 && answer.body.startsWith("<!doctype html>") && !/^\/(api|v1)(\/|$)/.test(pathname);
}

/** Says what is wrong with a response; undefined if nothing is. */
function faultOf(request: FuzzRequest, answer: LightMyRequestResponse): string | undefined {
  if (answer.statusCode < 400 || request.method === "HEAD") return answer.statusCode >= 500 ? "5xx" : undefined;
  if (isPageNotFound(request, answer)) return;
  if (innards.test(answer.body)) return "the body tells what is inside";
  if (!String(answer.headers["content-type"]).startsWith("application/problem+json")) return "no problem document";
  const problem = JSON.parse(answer.body) as { code: string; status: number; error: string; detail: string };
  if (problem.status !== answer.statusCode || problem.error !== problem.detail || problem.detail === "") return "an inconsistent problem";
  if ((refusals as Record<string, number>)[problem.code] !== answer.statusCode) return `the code ${problem.code} is none of ours`;
  return answer.statusCode >= 500 && unavailable[problem.code] !== answer.statusCode ? "5xx" : undefined;
}

async function countRows(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query(
    `select (select count(*) from grants where kind <> 'trial') as grants, (select count(*) from holds) as holds, (select count(*) from generations) as generations,
       (select count(*) from ledger_transactions where key not like 'capture:%' and key not like 'trial:%') as postings`,
  );
  return rows[0];
}

beforeAll(async () => {
  elsewhere = createServer((socket) => {
    askedElsewhere += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
  database = await createTestDatabase();
  sandbox = await startSandbox({ PRODUCT_URL: "http://127.0.0.1:9" });
  sandbox.models.pace.milliseconds = 0;
  const variables = { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: "token-of-the-tests", STRIPE_SECRET_KEY: "", STRIPE_WEBHOOK_SECRET: "" };
  const log = createLogger("trace", "test", {
    write(line) {
      logged += line;
    },
  });
  deps = createDeps(readConfig(testEnvironment(database, variables)), "test", log);
  app = await buildApp(deps);
  await app.ready();
});

afterAll(async () => {
  await app.close();
  await deps.close();
  await sandbox.close();
  await database.drop();
  elsewhere.close();
});

describe(`${requestCount} mutated requests (seed ${seed})`, () => {
  it("are each answered in time or refused properly; nothing else is written, and no secret is logged", {
    timeout: 1_200_000,
  }, async () => {
    const ingredients = await createIngredients();
    const maker = new RequestMaker(routesOf(app.swagger() as unknown as OpenApi), seededRandom(seed), ingredients);
    const before = await countRows();
    const answered = new Set(ingredients.asked);
    const statuses = new Set<number>();
    const faults: unknown[] = [];
    const made = { "signed out": 0, user: 0, admin: 0 };
    const succeeded = new Set<string>();
    /** How many callers were replaced, because they had signed out, or been deleted. */
    let renewed = 0;
    const check = async ({ request, route, caller }: FuzzCall) => {
      const answer = await answerInTime(request);
      made[caller?.kind ?? "signed out"] += 1;
      statuses.add(answer.statusCode);
      if (answer.statusCode < 400) succeeded.add(route);
      const fault = faultOf(request, answer);
      if (fault) faults.push({ fault, shown: shown(request), status: answer.statusCode, body: answer.body.slice(0, 400) });
      if (caller && answer.statusCode === 401 && answer.body.includes('"unauthenticated"') && isCalledBy(request, caller)) {
        renewed += 1;
        caller.authorization = "";
        caller.authorization = await signInAs(caller.kind);
      }
      const [, generationId, conversationId] =
        /^data: .*"generationId":"([^"]+)","turn":{"conversationId":"([^"]+)"/m.exec(answer.body) ?? [];
      if (generationId === undefined || answered.has(generationId)) return;
      answered.add(generationId);
      ingredients.known.id?.push(generationId, conversationId);
      ingredients.known.conversationId?.push(conversationId);
    };
    // First each route as everybody, then any.
    const first = maker.everyRoute([undefined, ...ingredients.kinds]);
    const routeCount = first.length / 3;
    let left = requestCount;
    const caller = async () => {
      while (left > 0 && faults.length < 5) {
        left -= 1;
        if (left % (requestCount / questionCount) === 0) {
          answered.add((await ask(ingredients.asker)).generationId);
          for (const refused of [await start(retired, ingredients.asker), await start(question, ingredients.nobody)]) {
            statuses.add(refused.statusCode);
          }
        }
        const call = first.pop() ?? maker.next();
        await check(call).catch((error: unknown) => faults.push({ fault: String(error), shown: shown(call.request) }));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
    expect(faults, `seed ${seed}`).toEqual([]);
    console.info(
      `${routeCount} routes, ${succeeded.size} of them with success; requests: ${JSON.stringify(made)}; ${renewed} people replaced`,
    );
    expect(askedElsewhere, `seed ${seed}: requests to an address that a caller named`).toBe(0);
    // The requests prove something only if every kind of success and refusal occurred.
    expect([...statuses]).toEqual(expect.arrayContaining([200, 202, 204, 400, 401, 402, 404, 409, 413, 415, 422]));
    expect(answered.size).toBeGreaterThanOrEqual(ingredients.asked.length + questionCount);
    // With three thousand requests on all routes, chance decides whether one sends a whole message.
    if (full) expect(await database.db.selectFrom("contact_messages").select("id").execute()).not.toEqual([]);

    expect(await countRows(), `seed ${seed}`).toEqual({
      ...before,
      grants: Number(before.grants) + renewed,
      postings: Number(before.postings) + renewed,
      holds: answered.size,
      generations: answered.size,
    });
    await expectBooksAgree(database);
    // Proves that the log is captured, so that the search below means something.
    deps.log.info({ person: { password } }, "end of the run");
    expect(logged).toContain("end of the run");
    expect(
      secrets.filter((secret) => logged.includes(secret)),
      `seed ${seed}: secrets in the log`,
    ).toEqual([]);
    expect(logged, `seed ${seed}`).not.toContain("request failed");
  });
});
