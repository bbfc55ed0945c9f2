import { randomUUID } from "node:crypto";
import type { TestContext } from "vitest";
import { describe, expect, it } from "vitest";
import type { FaultPoint } from "#server/fault-points.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { scaleFor } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

const team = "team@tessera.test";

async function start(test: TestContext): Promise<{ product: ScaleSetup; visitor: Visitor }> {
  const product = await scaleFor(test, { environment: { CONTACT_EMAIL: team } });
  return { product, visitor: new Visitor(product.apiUrls[0] ?? "", product.sandboxUrl) };
}

function write(visitor: Visitor, key: string): Promise<Response> {
  const body = { name: "Ada", email: visitor.email, category: "bug", message: "It broke", language: "de" };
  return visitor.call("POST", "/api/contact", body, { "idempotency-key": key });
}

async function subjectsTo({ sandboxUrl }: ScaleSetup, address: string): Promise<string[]> {
  const mails = (await (await fetch(`${sandboxUrl}/mail?to=${encodeURIComponent(address)}`)).json()) as { subject: string }[];
  return mails.map((mail) => mail.subject);
}

async function expectMailedOnce(setup: ScaleSetup, visitor: Visitor): Promise<void> {
  await waitUntilSettled(setup.database);
  expect([await subjectsTo(setup, team), await subjectsTo(setup, visitor.email)]).toEqual([
    ["[bug] Ada"],
    ["Deine Nachricht ist angekommen"],
  ]);
  await expectBooksAgree(setup.database);
}

describe.concurrent("a message to the team", () => {
  it("is mailed once when the API is killed with -9 right after storing it and the client sends it again", async (test) => {
    const { product: setup, visitor } = await start(test);
    const [api, worker] = [setup.apis[0], setup.workers[0]];
    const key = randomUUID();
    await worker?.stop("SIGKILL");
    const { id } = (await (await write(visitor, key)).json()) as { id: string };
    await api?.stop("SIGKILL");
    expect(await subjectsTo(setup, team)).toEqual([]);
    await Promise.all([api?.start(), worker?.start()]);
    const again = await write(visitor, key);
    expect([again.status, await again.json()]).toEqual([202, { id }]);
    await expectMailedOnce(setup, visitor);
  });

  it.for(["job-published", "mail-sent"] satisfies FaultPoint[])(
    "arrives once in each mailbox when the worker is killed with -9 at %s",
    { timeout: 90_000 },
    async (point, test) => {
      const { product: setup, visitor } = await start(test);
      const [worker] = setup.workers;
      await worker?.stop();
      await worker?.start({ TESSERA_FAULT_POINT: point });
      expect((await write(visitor, randomUUID())).status).toBe(202);
      expect(await worker?.ended()).toBe("SIGKILL");
      await worker?.start();
      await expectMailedOnce(setup, visitor);
    },
  );
});
