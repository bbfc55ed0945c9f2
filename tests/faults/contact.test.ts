/** Processes are killed with -9 around a message to the team. `npm run test:full` adds the kill between a mail and its record. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FaultPoint } from "#server/fault-points.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { startScale } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

/** After a mail was sent, before that was recorded: main-job.test.ts kills the worker there with another mail. */
const points: readonly FaultPoint[] = full ? ["job-published", "mail-sent"] : ["job-published"];
const team = "team@tessera.test";

/** Each test has a visitor of its own and leaves every part running, so that they can share a product. */
let setup: ScaleSetup;
beforeAll(async () => {
  setup = await startScale({ environment: { CONTACT_EMAIL: team } });
});
afterAll(() => setup?.stop());

const newVisitor = () => new Visitor(setup.apiUrls[0] ?? "", setup.sandboxUrl);

function write(visitor: Visitor, key: string): Promise<Response> {
  const body = { name: "Ada", email: visitor.email, category: "bug", message: "It broke", language: "de" };
  return visitor.call("POST", "/api/contact", body, { "idempotency-key": key });
}

async function mailsTo(address: string): Promise<{ subject: string; text: string }[]> {
  return (await (await fetch(`${setup.sandboxUrl}/mail?to=${encodeURIComponent(address)}`)).json()) as { subject: string; text: string }[];
}

/** The mails to the team about the visitor's message, and those to the visitor. */
async function subjectsOf({ email }: Visitor): Promise<[string[], string[]]> {
  const toTeam = (await mailsTo(team)).filter(({ text }) => text.includes(email));
  return [toTeam.map(({ subject }) => subject), (await mailsTo(email)).map(({ subject }) => subject)];
}

async function expectMailedOnce(visitor: Visitor): Promise<void> {
  await waitUntilSettled(setup.database);
  expect(await subjectsOf(visitor)).toEqual([["[bug] Ada"], ["Deine Nachricht ist angekommen"]]);
  await expectBooksAgree(setup.database);
}

describe("a message to the team", () => {
  it.runIf(full)("is mailed once when the API is killed with -9 right after storing it and the client sends it again", async () => {
    const visitor = newVisitor();
    const [api, worker] = [setup.apis[0], setup.workers[0]];
    const key = randomUUID();
    await worker?.stop("SIGKILL");
    const { id } = (await (await write(visitor, key)).json()) as { id: string };
    await api?.stop("SIGKILL");
    expect(await subjectsOf(visitor)).toEqual([[], []]);
    await Promise.all([api?.start(), worker?.start()]);
    const again = await write(visitor, key);
    expect([again.status, await again.json()]).toEqual([202, { id }]);
    await expectMailedOnce(visitor);
  });

  it.for(points)("arrives once in each mailbox when the worker is killed with -9 at %s", { timeout: 90_000 }, async (point) => {
    const visitor = newVisitor();
    const [worker] = setup.workers;
    await worker?.stop();
    await worker?.start({ TESSERA_FAULT_POINT: point });
    expect((await write(visitor, randomUUID())).status).toBe(202);
    expect(await worker?.ended()).toBe("SIGKILL");
    await worker?.start();
    await expectMailedOnce(visitor);
  });
});
