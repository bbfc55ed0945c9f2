/** Every route of the OpenAPI document that names something by its id: another person gets a 404, as if it did not exist. */
import { randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeFile } from "#server/features/files/service.ts";
import { askForExport, makeExport } from "#server/features/own-data/exports.ts";
import type { AnswerProcess, RunningModels, SeenAnswer } from "#tests/support/answers.ts";
import { ask, startModels } from "#tests/support/answers.ts";
import type { OpenApi } from "#tests/support/fuzz-requests.ts";
import { routesOf } from "#tests/support/fuzz-requests.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let models: RunningModels;
let product: AuthApp;
let owner: TestPerson;
let stranger: TestPerson;
let answer: SeenAnswer;

beforeAll(async () => {
  models = await startModels();
  product = await createAuthApp({ SANDBOX_URL: models.url, SANDBOX_TOKEN: "token-of-the-tests" });
  await product.app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(product.app.server.address() as AddressInfo).port}`;
  owner = await createPerson(product, product.db, { credits: 10 });
  stranger = await createPerson(product, product.db, { credits: 10 });
  answer = await ask({ ...product, url } as unknown as AnswerProcess, owner);
});
afterAll(async () => {
  await product.close();
  await models.close();
});

interface Case {
  /** The id of something the owner has. */
  id: () => string | Promise<string>;
  body?: object;
  /** What the owner gets. */
  own: number;
}

/** The file of an export, made as the worker makes it. */
async function exportOfOwner(): Promise<string> {
  const { latest } = await askForExport(product.deps, { userId: owner.userId, network: "10.0.0.1" });
  await makeExport(product.deps, latest?.id ?? "");
  return latest?.id ?? "";
}

async function fileOfOwner(): Promise<string> {
  const file = { userId: owner.userId, kind: "output", name: "words" } as const;
  return (await storeFile(product.deps, file, Buffer.from("words"))).id;
}

const generation = () => answer.generationId;
const conversation = () => answer.conversationId;

async function sessionOfOwner(): Promise<string> {
  const row = await product.db.selectFrom("auth_sessions").select("id").where("user_id", "=", owner.userId).executeTakeFirstOrThrow();
  return row.id;
}

async function passkeyOfOwner(): Promise<string> {
  const key = { credential_id: randomBytes(16), public_key: randomBytes(77), counter: 0, device_type: "singleDevice" as const };
  const about = { transports: [], backed_up: false, name: "A key", created_at: new Date(), last_used_at: null };
  const row = { user_id: owner.userId, ...key, ...about };
  return (await product.db.insertInto("passkeys").values(row).returning("id").executeTakeFirstOrThrow()).id;
}

/** Its link leads to Stripe, which does not answer here. */
async function invoiceOfOwner(): Promise<string> {
  const id = `in_${randomUUID()}`;
  const sold = { plan_key: null, billing_interval: null, pack_key: null, period_start: null, period_end: null };
  const figures = { total_cents: 1999, unpaid_cents: 0, refunded_cents: 0, status: "paid" as const, failed: false, needs_action: false };
  const about = { number: "A-1", stripe_subscription_id: null, issued_at: new Date(), updated_at: new Date() };
  const row = { id, billing_account_id: await payerIdOf(product.db, owner.userId), ...sold, ...figures, ...about };
  await product.db.insertInto("invoices").values(row).execute();
  return id;
}

/** In this order the owner's own calls follow the stranger's. A new route with an id needs a line here. */
const cases: Readonly<Record<string, Case>> = {
  "GET /api/generations/{id}": { id: generation, own: 200 },
  "GET /api/generations/{id}/events": { id: generation, own: 200 },
  "GET /api/generations/{id}/sound": { id: generation, own: 200 },
  "POST /api/generations/{id}/stop": { id: generation, body: {}, own: 200 },
  "GET /api/conversations/{id}": { id: conversation, own: 200 },
  "PATCH /api/conversations/{id}": { id: conversation, body: { title: "mine" }, own: 200 },
  "DELETE /api/conversations/{id}": { id: conversation, own: 204 },
  "GET /api/account/exports/{id}/file": { id: exportOfOwner, own: 200 },
  "PATCH /api/account/passkeys/{id}": { id: passkeyOfOwner, body: { name: "mine" }, own: 200 },
  "DELETE /api/account/passkeys/{id}": { id: passkeyOfOwner, own: 204 },
  "POST /api/billing/invoices/{id}/link": { id: invoiceOfOwner, body: { document: "pdf" }, own: 502 },
  "GET /api/files/{id}": { id: fileOfOwner, own: 200 },
  "DELETE /api/files/{id}": { id: fileOfOwner, own: 204 },
  "DELETE /api/account/sessions/{id}": { id: sessionOfOwner, own: 204 },
};

async function callAs(person: TestPerson, name: string, id: string): Promise<LightMyRequestResponse> {
  const [method = "", path = ""] = name.split(" ");
  const body = cases[name]?.body;
  return product.app.inject({
    method: method as NonNullable<InjectOptions["method"]> & "GET",
    url: path.replace(/\{\w+\}/, id),
    headers: { authorization: `Bearer ${person.token}` },
    ...(body ? { payload: body } : {}),
  });
}

test("every route with an id is among these cases", () => {
  const routes = routesOf(product.app.swagger() as unknown as OpenApi).map(({ method, path }) => `${method} ${path}`);
  expect(routes.filter((name) => name.includes("{id}")).sort()).toEqual(Object.keys(cases).sort());
});

test("another person's id is answered like one that does not exist, and the owner's own works", async () => {
  for (const [name, { id, own }] of Object.entries(cases)) {
    const theirs = await id();
    const [foreign, unknown] = [await callAs(stranger, name, theirs), await callAs(stranger, name, randomUUID())];
    expect([foreign.statusCode, foreign.json().code], name).toEqual([404, "not_found"]);
    expect(foreign.json(), name).toEqual(unknown.json());
    expect((await callAs(owner, name, theirs)).statusCode, name).toBe(own);
  }
});
