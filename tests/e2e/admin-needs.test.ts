/** What needs the team, in a browser: each with the button that settles it; and the acts on a person's page that no other test does. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { AuditRow } from "#contract/admin/team.ts";
import type { TransferInvoice } from "#contract/billing/transfers.ts";
import type { Withdrawals } from "#contract/billing/withdrawals.ts";
import { addMilliseconds, dayMs, hourMs } from "#domain/clock.ts";
import { plans } from "#domain/plans.ts";
import { inTransaction } from "#server/db/transaction.ts";
import { holdForSeveral } from "#server/features/credits/holds.ts";
import { recordFinding } from "#server/features/findings/service.ts";
import { consentTo } from "#tests/support/consent.ts";
import { payerIdOf } from "#tests/support/payers.ts";
import type { Visitor } from "#tests/support/visitor.ts";
import { button, clerk, confirm, on, viewports } from "./admin-support.ts";
import type { Stage } from "./support.ts";
import { pageOf, setStage } from "./support.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
}, 180_000);
afterEach(() => stage?.devices.takeBack());
afterAll(() => stage?.close());

const idOf = ({ session }: Visitor) => session?.user.id ?? "";

/** A renewal that was declined: its plan is in its days of grace. */
async function plantUnpaid(person: Visitor): Promise<void> {
  // The events of the purchase would put right what is planted.
  const waiting = () => stage.db.selectFrom("stripe_events").select("id").where("status", "=", "received").execute();
  await expect.poll(waiting).toEqual([]);
  const now = new Date();
  const [subscription] = await stage.db
    .updateTable("user_subscriptions")
    .set({ status: "past_due", grace_until: addMilliseconds(now, dayMs) })
    .where("user_id", "=", idOf(person))
    .returning("stripe_subscription_id")
    .execute();
  const figures = {
    total_cents: 1_999,
    unpaid_cents: 1_999,
    refunded_cents: 0,
    status: "open" as const,
    failed: true,
    needs_action: false,
  };
  const sold = { plan_key: "starter" as const, billing_interval: "month" as const, pack_key: null, period_start: now, period_end: now };
  const of = { billing_account_id: await payerIdOf(stage.db, idOf(person)), stripe_subscription_id: subscription?.stripe_subscription_id };
  await stage.db
    .insertInto("invoices")
    .values({ id: `in_${randomUUID()}`, number: null, ...of, ...figures, ...sold, issued_at: now, updated_at: now })
    .execute();
}

/** Enterprise, paid by bank transfer, and withdrawn from: the money is to be transferred back. */
async function withdrawTransfer(admin: Visitor, person: Visitor, reference: string): Promise<void> {
  const reason = "They asked for it";
  await admin.json("POST", "/api/admin/transfers/offer", { email: person.email, interval: "month", daysUntilDue: 14, reason });
  const consent = consentTo("enterprise_month");
  const { invoiceId } = await person.json<TransferInvoice>("POST", "/api/billing/transfer-offer/order", { consent });
  const amountCents = plans.enterprise.monthlyPriceCents;
  await admin.json("POST", "/api/admin/transfers", { reference, invoiceId, amountCents, currency: "usd", reason: "Bank statement" });
  await person.waitForSubscription(plans.enterprise.monthlyCredits);
  const { contracts } = await person.json<Withdrawals>("GET", "/api/billing/withdrawals");
  await person.json("POST", "/api/billing/withdrawals", { contractId: contracts[0]?.id });
}

/** Credits that are held for too long, because the worker, which would release them within seconds, can't. */
async function plantStuckHold(person: Visitor, credits: number): Promise<void> {
  const [holdId, now] = [randomUUID(), new Date()];
  const held = { holdId, userId: idOf(person), credits, kinds: ["plan" as const], holdMs: hourMs, now };
  await inTransaction(stage.db, (trx) => holdForSeveral(trx, held));
  await stage.asOwner(
    `create or replace function refuse_worker() returns trigger language plpgsql as $$ begin
      if current_setting('application_name') = 'tessera worker' then raise exception 'not now'; end if; return new; end $$`,
    "create or replace trigger refuse_worker before update on holds for each row execute function refuse_worker()",
    `update holds set deadline = now() - interval '1 hour' where id = '${holdId}'`,
  );
}

it.each(on("desktop"))(
  "on a %s an admin puts an entry off until tomorrow, finds it among what was put off and brings it back; and releases credits that are held too long",
  async (device) => {
    const [admin, person] = [await clerk(stage), await stage.person(true)];
    const found = `in_${randomUUID()}`;
    const payerId = await payerIdOf(stage.db, idOf(person));
    await recordFinding(stage.db, { kind: "missing_grant", subject: found, payerId, details: {} }, null, new Date());
    const page = await pageOf(stage, admin, { viewport: viewports[device] });
    await page.goto(`${stage.url}/admin/needs`);
    const row = page.getByRole("listitem").filter({ hasText: found });
    await row.getByRole("button", { name: "Put off" }).click();
    await button(page, "Tomorrow").click();
    await confirm(page, "Put off", "The bank answers tomorrow");
    await row.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Put off", exact: true }).click();
    await row.getByText(`by ${admin.email}: The bank answers tomorrow`).waitFor();
    await row.getByRole("button", { name: "Bring back" }).click();
    await confirm(page, "Bring back", "The bank has answered");
    await row.waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Waiting", exact: true }).click();
    await row.waitFor();

    await plantStuckHold(person, 40);
    try {
      await page.reload();
      await page.getByRole("heading", { name: "Credits held too long" }).waitFor();
      await button(page, "Release all").click();
      await confirm(page, "Release all", "The worker could not");
      await page.getByText("Released: 1").waitFor();
    } finally {
      await stage.asOwner("drop trigger refuse_worker on holds", "drop function refuse_worker");
    }
    const { rows } = await admin.json<{ rows: AuditRow[] }>("GET", `/api/admin/audit?${new URLSearchParams({ by: admin.email })}`);
    expect(rows.map(({ action }) => action).slice(0, 3)).toEqual(["holds.released", "need.brought_back", "need.put_off"]);
  },
  120_000,
);

it.each(on("phone"))(
  "on a %s an admin closes a finding, opens it again and closes it for good, has everything checked, does a job again, mails a link to pay and records a transfer back; ends and resumes a plan, signs a person out everywhere and opens their invoice",
  async (device) => {
    const [admin, unpaid, withdrawn, person] = [
      await clerk(stage),
      await stage.person(true),
      await stage.person(false),
      await stage.person(true),
    ];
    const [reference, found, stuck] = [`FT ${randomUUID()}`, `in_${randomUUID()}`, `evt_${randomUUID()}`];
    await plantUnpaid(unpaid);
    await withdrawTransfer(admin, withdrawn, reference);
    const payerId = await payerIdOf(stage.db, idOf(person));
    await recordFinding(stage.db, { kind: "missing_grant", subject: found, payerId, details: {} }, null, new Date());
    await recordFinding(stage.db, { kind: "stuck_event", subject: stuck, payerId: null, details: {} }, null, new Date());
    const letter = { id: randomUUID(), job: "delete-file", payload: JSON.stringify({ name: randomUUID() }), error: `EBUSY ${stuck}` };
    await stage.db
      .insertInto("dead_letters")
      .values({ ...letter, attempts: 10, replayed_at: null })
      .execute();

    const page = await pageOf(stage, admin, { viewport: viewports[device] });
    await page.goto(`${stage.url}/admin/needs`);
    const row = (words: string) => page.getByRole("listitem").filter({ hasText: words });
    await row(found).getByRole("button", { name: "Close" }).click();
    await confirm(page, "Close", "It was another one");
    await row(found).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Closed", exact: true }).click();
    await row(found).getByText(`${admin.email} closed it on`).waitFor();
    await row(found).getByRole("button", { name: "Open again" }).click();
    await confirm(page, "Open again", "I took it for another one");
    await row(found).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
    await page.getByRole("link", { name: "Waiting", exact: true }).click();
    await row(found).getByRole("button", { name: "Close" }).click();
    await confirm(page, "Close", "It was an old test");
    await row(found).waitFor({ state: "detached" });

    await row(letter.error).getByRole("button", { name: "Do it again" }).click();
    await confirm(page, "Do it again", "The disk is back");
    await row(letter.error).waitFor({ state: "detached" });

    await row(unpaid.email).getByRole("button", { name: "Email the link to pay" }).click();
    await confirm(page, "Email the link to pay", "They asked how to pay");
    await page.getByText(`The email is on its way to ${unpaid.email}.`).waitFor();

    await row(reference).getByRole("button", { name: "Record the transfer" }).click();
    await page.getByRole("dialog", { name: "Record the transfer" }).getByLabel("The bank’s reference").fill(`Back ${reference}`);
    await confirm(page, "Record the transfer", "Statement of today");
    await row(reference).waitFor({ state: "detached" });

    await row(stuck).getByRole("button", { name: "Check everything" }).click();
    await confirm(page, "Check everything", "An event is stuck");
    const log = `/api/admin/audit?${new URLSearchParams({ by: admin.email, action: "full_check.asked" })}`;
    expect((await admin.json<{ rows: AuditRow[] }>("GET", log)).rows).toMatchObject([{ reason: "An event is stuck" }]);

    await page.goto(`${stage.url}/admin/people/${idOf(person)}`);
    await button(page, "Cancel plan").click();
    await confirm(page, "Cancel plan");
    await button(page, "Resume plan").click();
    await confirm(page, "Resume plan");
    await button(page, "Cancel plan").waitFor();
    await page.locator("summary", { hasText: "More" }).click();
    await button(page, "Sign out everywhere").click();
    await confirm(page, "Sign out everywhere", "They lost their phone");
    await page.getByText("Signed in nowhere").waitFor();
    const [link] = await Promise.all([page.waitForResponse(/\/invoices\/[^/]+\/link$/), button(page, "PDF").click()]);
    const { url } = (await link.json()) as { url: string };
    expect((await fetch(url)).headers.get("content-type")).toContain("pdf");
  },
  180_000,
);
