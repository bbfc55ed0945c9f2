/** The migration that puts an account between person and wallet keeps everybody's credits, customer and books, on the way up and down. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrationNames } from "#server/db/migrations.ts";
import { migrate } from "#server/db/migrator.ts";
import { applicationRole } from "#server/embedded/postgres.ts";
import { full } from "#tests/support/full.ts";
import { createEmptyDatabase } from "#tests/support/postgres.ts";

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

async function asOwner<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Migrates to the schema before this one. */
async function goBack(): Promise<void> {
  const names = await migrationNames();
  const before = names[names.findIndex((name) => name.endsWith("_billing_accounts")) - 1];
  await migrate({ ownerUrl: database.ownerUrl, applicationRole, downTo: before ?? "none" });
}

const goUp = () => migrate({ ownerUrl: database.ownerUrl, applicationRole });

/** A person with a customer, a wallet, an open hold with its answer, an annual plan and its paid invoice. */
async function insertSubscriber(name: string): Promise<{ userId: string; generationId: string }> {
  const generationId = randomUUID();
  const [user] = await asOwner<{ id: string }>("insert into users (stripe_customer_id, created_at) values ($1, now()) returning id", [
    `cus_${name}`,
  ]);
  const userId = user?.id ?? "";
  const [wallet] = await asOwner<{ id: string }>("insert into wallets (user_id, created_at) values ($1, now()) returning id", [userId]);
  const grant = "select ledger_post_grant($1, 'plan', 300, now() + interval '1 month', $2, now(), $3)";
  await asOwner(grant, [wallet?.id, `grant:in_${name}:il_1`, `in_${name}`]);
  await asOwner("select ledger_hold($1, $2, 5, '{plan}', now(), now() + interval '1 hour', now())", [generationId, wallet?.id]);
  await asOwner(
    `insert into generations (id, user_id, model_id, idempotency_key, request_hash, hold_id, quoted_credits, lease_owner, lease_expires_at, created_at)
       values ($1, $2, 'gpt-5', $3, '', $1, 5, $1, now(), now())`,
    [generationId, userId, randomUUID()],
  );
  await asOwner(
    `insert into user_subscriptions (user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start,
       current_period_end, started_at, updated_at) values ($1, 'starter', 'year', 'active', $2, now(), now(), now(), now())`,
    [userId, `sub_${name}`],
  );
  await asOwner(
    `insert into subscription_changes (user_id, stripe_subscription_id, plan_key, billing_interval, status, cancel_at_period_end,
       current_period_start, current_period_end, valid_from, recorded_at) values ($1, $2, 'starter', 'year', 'active', false, now(), now(), now(), now())`,
    [userId, `sub_${name}`],
  );
  await asOwner(
    `insert into paid_invoices (id, user_id, stripe_subscription_id, stripe_customer_id, amount_paid_cents, paid_at, recorded_at)
       values ($1, $2, $3, $4, 100, now(), now())`,
    [`in_${name}`, userId, `sub_${name}`, `cus_${name}`],
  );
  const month = "insert into scheduled_grants (key, user_id, credits, due_at, expires_at) values ($1, $2, 300, now(), now())";
  await asOwner(month, [`month:in_${name}:il_1:1`, userId]);
  return { userId, generationId };
}

const rowsBefore = async () => ({
  users: await asOwner("select id, stripe_customer_id from users order by id"),
  wallets: await asOwner("select id, user_id, balance, held from wallets order by id"),
  subscriptions: await asOwner("select user_id, stripe_subscription_id from user_subscriptions order by 2"),
  changes: await asOwner("select id, user_id from subscription_changes order by id"),
  invoices: await asOwner("select id, user_id from paid_invoices order by id"),
  months: await asOwner("select key, user_id from scheduled_grants order by key"),
  generations: await asOwner("select id, user_id from generations order by id"),
});

const disagreements = () => asOwner("select * from ledger_disagreements()");

test.runIf(full)("an account is made for everybody, the books agree at each step, and two of its members share what one had", async () => {
  await goUp();
  await goBack();
  const ada = await insertSubscriber("ada");
  const gone = await insertSubscriber("gone");
  const [plain] = await asOwner<{ id: string }>("insert into users (created_at) values (now()) returning id");
  await asOwner("delete from users where id = $1", [gone.userId]);
  const before = await rowsBefore();

  await goUp();
  expect(await disagreements()).toEqual([]);
  const owned = (person: string) =>
    asOwner(
      `select a.stripe_customer_id as customer, w.balance, w.held, (select count(*)::integer from scheduled_grants s where s.billing_account_id = a.id) as months,
           (select count(*)::integer from paid_invoices p where p.billing_account_id = a.id) as invoices,
           (select count(*)::integer from subscription_changes c where c.billing_account_id = a.id) as changes,
           (select array_agg(g.id) from generations g where g.payer_id = a.id) as answers
         from billing_accounts a left join wallets w on w.billing_account_id = a.id where ${person}`,
    );
  const books = { balance: 300, held: 5, invoices: 1, changes: 1 };
  expect(await owned(`a.id = payer_of('${ada.userId}')`)).toEqual([
    { ...books, customer: "cus_ada", months: 1, answers: [ada.generationId] },
  ]);
  expect(await owned(`a.id = payer_of('${plain?.id}')`)).toEqual([
    { customer: null, balance: null, held: null, months: 0, invoices: 0, changes: 0, answers: null },
  ]);
  // What a deleted person left behind is still together, without a member.
  expect(await owned("not exists (select from billing_account_members m where m.billing_account_id = a.id)")).toEqual([
    { ...books, customer: null, months: 0, answers: [gone.generationId] },
  ]);

  await goBack();
  expect(await disagreements()).toEqual([]);
  expect(await rowsBefore()).toEqual(before);

  // A second member: what the account has is the first one's again on the way down, and nothing is lost from the books.
  await goUp();
  await asOwner("update billing_account_members set billing_account_id = payer_of($1), created_at = clock_timestamp() where user_id = $2", [
    ada.userId,
    plain?.id,
  ]);
  await asOwner(
    `insert into user_subscriptions (user_id, plan_key, billing_interval, status, stripe_subscription_id, current_period_start,
       current_period_end, started_at, updated_at) select $1, plan_key, billing_interval, status, stripe_subscription_id, current_period_start,
       current_period_end, started_at, updated_at from user_subscriptions where user_id = $2`,
    [plain?.id, ada.userId],
  );
  await goBack();
  expect(await disagreements()).toEqual([]);
  expect(await rowsBefore()).toEqual(before);
  const mayInsert = `select has_column_privilege('${applicationRole}', 'wallets', 'user_id', 'INSERT') as may`;
  expect(await asOwner(mayInsert)).toEqual([{ may: true }]);

  await goUp();
  expect(await disagreements()).toEqual([]);
  expect(await asOwner("select payer_of(id) = any (select billing_account_id from wallets) as paid from users order by id")).toEqual([
    { paid: true },
    { paid: false },
  ]);
});
