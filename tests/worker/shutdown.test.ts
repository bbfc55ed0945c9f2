import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inTransaction } from "#server/db/transaction.ts";
import { queueMail } from "#server/features/notifications/service.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import type { ScaleSetup } from "#tests/support/scale.ts";
import { startScale } from "#tests/support/scale.ts";
import { Visitor } from "#tests/support/visitor.ts";

describe("SIGTERM under load", () => {
  let product: ScaleSetup;
  beforeAll(async () => {
    product = await startScale({ workers: 2 });
  });
  afterAll(() => product?.stop());

  it("a worker exits within its deadline, and every mail still goes out once", async () => {
    const { database, workers, sandboxUrl } = product;
    const recipients = Array.from({ length: 120 }, () => `reader-${randomUUID()}@example.com`);
    for (const recipient of recipients) {
      const mail = { key: randomUUID(), userId: null, recipient, template: "account-exists", language: "en", parameters: {} } as const;
      await inTransaction(database.db, (trx) => queueMail(trx, mail, new Date()));
    }
    // After its deadline it would exit with 1.
    expect(await workers[0]?.stop("SIGTERM")).toBe("exit code 0");
    await waitUntilSettled(database);
    const mails = (await (await fetch(`${sandboxUrl}/mail`)).json()) as { to: string }[];
    expect(mails.map((mail) => mail.to).sort()).toEqual(recipients.sort());
    await workers[0]?.start();
  });

  it("an API process exits within its deadline; only completed answers are charged and the books agree", async () => {
    const { database, apis, apiUrls, sandboxUrl } = product;
    const visitor = await new Visitor(apiUrls[0] ?? "", sandboxUrl).join();
    await visitor.subscribe("enterprise_month", 1250);
    const pace = (paceMs: number) =>
      fetch(`${sandboxUrl}/models/pace`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ paceMs }),
      });
    await pace(400);
    let begun = 0;
    const onEvent = () => {
      begun += 1;
    };
    const asked = Promise.allSettled(Array.from({ length: 6 }, () => visitor.ask({ onEvent })));
    await expect.poll(() => begun).toBeGreaterThanOrEqual(6);
    expect(await apis[0]?.stop("SIGTERM")).toBe("exit code 0");
    await asked;
    await pace(20);
    await apis[0]?.start();
    await waitUntilSettled(database);
    await expectBooksAgree(database);
    const ends = await database.db.selectFrom("generations").select(["status", "charged_credits"]).execute();
    expect(ends).toHaveLength(6);
    for (const end of ends) expect(end.charged_credits).toBe(end.status === "completed" ? 1 : 0);
  }, 240_000);
});
