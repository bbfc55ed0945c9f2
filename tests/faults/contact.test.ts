import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { FaultPoint } from "#server/fault-points.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { hasTurn } from "#tests/support/rotation.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { startScale } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

const team = "team@tessera.test";

let product: ScaleSetup | undefined;
afterEach(async () => {
  await product?.stop();
  product = undefined;
});

async function start(): Promise<{ product: ScaleSetup; visitor: Visitor }> {
  product = await startScale({ environment: { CONTACT_EMAIL: team } });
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

describe("a message to the team", () => {
  it("whose API is killed with -9 as soon as it is stored is mailed once, and sent again is known", async () => {
    const { product: setup, visitor } = await start();
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
  }, 60_000);

  it.each((["job-published", "mail-sent"] satisfies FaultPoint[]).filter((_point, index) => hasTurn(index, 2)))(
    "whose worker is killed with -9 at %s is in each mailbox once",
    async (point) => {
      const { product: setup, visitor } = await start();
      const [worker] = setup.workers;
      await worker?.stop();
      await worker?.start({ TESSERA_FAULT_POINT: point });
      expect((await write(visitor, randomUUID())).status).toBe(202);
      expect(await worker?.ended()).toBe("SIGKILL");
      await worker?.start();
      await expectMailedOnce(setup, visitor);
    },
    90_000,
  );
});
