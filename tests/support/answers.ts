/** API processes that generate answers: each has its own Fastify application, all share one database and one model server. */

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { createParser } from "eventsource-parser";
import Fastify from "fastify";
import type { CreateGeneration, Receipt, StartEvent } from "#contract/generations/generations.ts";
import type { Clock } from "#domain/clock.ts";
import { slowestPaceMs } from "#sandbox/models/delivery.ts";
import type { ModelServer } from "#sandbox/models/plugin.ts";
import { createModelServer } from "#sandbox/models/plugin.ts";
import { readConfig } from "#server/config.ts";
import type { Db } from "#server/db/database.ts";
import type { Deps } from "#server/deps.ts";
import { createDeps } from "#server/deps.ts";
import { registerTokens } from "#server/features/auth/tokens.ts";
import { createReadViewer, createSessionCheck } from "#server/features/auth/viewer.ts";
import { conversationRoutes } from "#server/features/conversations/routes.ts";
import type { Answers } from "#server/features/generations/answers.ts";
import { createAnswers } from "#server/features/generations/answers.ts";
import type { AnswerTimings } from "#server/features/generations/ask-for.ts";
import { generationRoutes } from "#server/features/generations/routes.ts";
import type { App } from "#server/http/app-type.ts";
import { HeldConnections } from "#server/http/held-connections.ts";
import { registerProblems } from "#server/http/problem.ts";
import { compileValidator } from "#server/http/validation.ts";
import { signedInScope } from "#server/http/viewer.ts";
import { testEnvironment } from "./deps.ts";
import type { TestPerson } from "./people.ts";
import type { TestDatabase } from "./postgres.ts";
import { createTestDatabase } from "./postgres.ts";

export interface AnswerProcess {
  app: App;
  deps: Deps;
  answers: Answers;
  url: string;
  close(): Promise<void>;
}

export interface AskedMessage {
  role: string;
  content: string;
}

export interface RunningModels extends ModelServer {
  url: string;
  /** What a model was asked last. */
  lastMessages(): readonly AskedMessage[];
  close(): Promise<void>;
}

/** A time before any model ends, so that the model server serves whichever model the product offers by its own clock. */
const noneEnded: Clock = { now: () => new Date(0) };

/** Models answer without delay; a test that needs an answer under way sets a pace. Models end by `clock`; without it none ends. */
export async function startModels(clock: Clock = noneEnded): Promise<RunningModels> {
  const models = createModelServer(clock);
  models.pace.milliseconds = 0;
  const app = Fastify({ forceCloseConnections: true });
  let lastMessages: AskedMessage[] = [];
  app.addHook("preHandler", async ({ body }) => {
    const asked = body as { messages?: AskedMessage[]; input?: AskedMessage[] | string } | undefined;
    // What is read aloud is a text alone.
    const input = typeof asked?.input === "string" ? [{ role: "user", content: asked.input }] : asked?.input;
    lastMessages = (asked?.messages ?? input ?? []).map(({ role, content }) => ({ role, content }));
  });
  await app.register(models.plugin, { prefix: "/providers" });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { ...models, url, lastMessages: () => lastMessages, close: () => app.close() };
}

export async function startAnswerProcess(
  applicationUrl: string,
  modelsUrl: string,
  timings: Partial<AnswerTimings> = {},
  variables: NodeJS.ProcessEnv = {},
): Promise<AnswerProcess> {
  const config = readConfig(
    testEnvironment({ applicationUrl }, { SANDBOX_URL: modelsUrl, SANDBOX_TOKEN: "token-of-the-tests", ...variables }),
  );
  const deps = createDeps(config, "test");
  const app: App = Fastify({ forceCloseConnections: "idle" }).withTypeProvider<TypeBoxTypeProvider>();
  const connections = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  app.setValidatorCompiler(compileValidator);
  registerProblems(app);
  await registerTokens(app, deps);
  const answers = createAnswers(deps, timings);
  const held = new HeldConnections(deps, createSessionCheck(deps));
  const stopChecking = held.start();
  app.addHook("onClose", async () => stopChecking());
  // Production does the same while a process drains: a connection whose stream has just ended would otherwise stay open for a minute.
  app.addHook("preClose", async () => {
    const timer = setInterval(() => {
      app.server.closeIdleConnections();
      // A client that lost its connection may have opened another one, and send nothing by it.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    }, 50);
    app.server.once("close", () => clearInterval(timer));
  });
  await app.register(
    signedInScope(createReadViewer(app, deps), [generationRoutes(deps, answers, held), conversationRoutes(deps, answers)]),
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    app,
    deps,
    answers,
    url,
    async close() {
      await app.close();
      await deps.close();
    },
  };
}

export interface AnswerWorld {
  database: TestDatabase;
  models: RunningModels;
  api: AnswerProcess;
  close(): Promise<void>;
}

/** Starts a database, a model server and one answering process. */
export async function startAnswerWorld(timings: Partial<AnswerTimings> = {}): Promise<AnswerWorld> {
  const database = await createTestDatabase();
  const models = await startModels();
  const api = await startAnswerProcess(database.applicationUrl, models.url, timings);
  return {
    database,
    models,
    api,
    async close() {
      await api.close();
      await models.close();
      await database.drop();
    },
  };
}

export interface SeenEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export interface SeenAnswer {
  events: SeenEvent[];
  text: string;
  receipt: Receipt | undefined;
  generationId: string;
  conversationId: string;
  questionId: string;
  answerId: string;
}

export function send(
  process: AnswerProcess,
  person: TestPerson,
  request: Partial<CreateGeneration> | Record<string, unknown> = {},
  options: { key?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${process.url}/api/generations`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${person.token}`,
      "content-type": "application/json",
      "idempotency-key": options.key ?? randomUUID(),
    },
    body: JSON.stringify({ model: "gpt-6-luna", prompt: "What is a tessera?", quotedCredits: 1, ...request }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

export function call(
  process: AnswerProcess,
  person: TestPerson,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(process.url + path, { method, headers: { authorization: `Bearer ${person.token}`, ...headers } });
}

/** Reads the answer to its end, or drops the connection as soon as `enough` returns true. */
export async function readAnswer(response: Response, enough: (seen: SeenAnswer) => boolean = () => false): Promise<SeenAnswer> {
  if (response.status !== 200 || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const seen: SeenAnswer = { events: [], text: "", receipt: undefined, generationId: "", conversationId: "", questionId: "", answerId: "" };
  const parser = createParser({
    onEvent({ id, event, data }) {
      if (enough(seen)) return;
      const parsed = { id: Number(id), event: event ?? "", data: JSON.parse(data) as Record<string, unknown> };
      seen.events.push(parsed);
      if (event === "start") {
        seen.generationId = String(parsed.data.generationId);
        const { turn } = parsed.data as unknown as StartEvent;
        if (turn) Object.assign(seen, turn);
      }
      if (event === "delta") seen.text += String(parsed.data.text);
      if (event === "receipt") seen.receipt = parsed.data as unknown as Receipt;
    },
  });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return seen;
    parser.feed(decoder.decode(value, { stream: true }));
    if (enough(seen)) {
      await reader.cancel();
      return seen;
    }
  }
}

/**
 * Asks, reads until `enough`, by default to the first word, and then holds the model's answers where they are until the test sets
 * another pace. What follows happens in the middle of the answer, however busy the machine is.
 */
export async function askAndHold(
  models: Pick<ModelServer, "pace">,
  process: AnswerProcess,
  person: TestPerson,
  request: Partial<CreateGeneration> | Record<string, unknown> = {},
  enough: (seen: SeenAnswer) => boolean = (seen) => seen.text !== "",
): Promise<SeenAnswer> {
  models.pace.milliseconds = 20;
  const response = await send(process, person, request);
  return readAnswer(response, (seen) => {
    if (!enough(seen)) return false;
    models.pace.milliseconds = slowestPaceMs;
    return true;
  });
}

/** What is stored of an answer; undefined: not a word. */
export async function storedText(db: Db, generationId: string): Promise<string | undefined> {
  const parts = await db.selectFrom("generation_parts").select("text").where("generation_id", "=", generationId).orderBy("place").execute();
  return parts.length === 0 ? undefined : parts.map(({ text }) => text ?? "").join("");
}

export async function ask(
  process: AnswerProcess,
  person: TestPerson,
  request: Partial<CreateGeneration> | Record<string, unknown> = {},
  options: { key?: string } = {},
): Promise<SeenAnswer> {
  return readAnswer(await send(process, person, request, options));
}

export async function resume(
  process: AnswerProcess,
  person: TestPerson,
  generationId: string,
  lastEventId: number,
  enough?: (seen: SeenAnswer) => boolean,
): Promise<SeenAnswer> {
  const response = await call(process, person, "GET", `/api/generations/${generationId}/events`, { "last-event-id": String(lastEventId) });
  return readAnswer(response, enough);
}
