/** The panel's list of people, and how one of them is found. Every way is an index, and each finds a bounded number. */
import type { RawBuilder } from "kysely";
import { sql } from "kysely";
import { validate as isUuid } from "uuid";
import { mostFound } from "#domain/tables.ts";
import type { PeopleQuery } from "../../contract/admin/people.ts";
import { PersonRow } from "../../contract/admin/people.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";
import { customerOf, stripePrefix } from "../billing/customer-of.ts";
import type { Table } from "./tables.ts";
import { readTable } from "./tables.ts";

interface Row {
  id: string;
  email: string;
  name: string | null;
  role: PersonRow["role"];
  created_at: Date;
  last_sign_in_at: Date | null;
  plan_key: string | null;
  status: string | null;
  balance: number | null;
  banned_at: Date | null;
  delete_at: Date | null;
}

/**
 * Nobody looks through a longer list. PostgreSQL plans for this number of rows, and looks each of them up by its key only while they are few: for 1,000
 * it read the whole table of a million people instead (`npm run bench -- scale`).
 */
export const foundAtMost = mostFound;

/** A pattern for values that begin with the text. Wildcards in the text are escaped. */
export const beginning = (text: string) => `${text.replaceAll(/[\\%_]/g, "\\$&")}%`;

const payersOf = (accounts: RawBuilder<unknown>) =>
  sql<boolean>`u.id in (select m.user_id from billing_account_members m where m.billing_account_id in (${accounts}))`;

const byStripeId = new Map<string, (id: string) => RawBuilder<unknown>>(
  Object.entries({
    cus: (id: string) => sql`select a.id from billing_accounts a where a.stripe_customer_id = ${id}
    union select f.billing_account_id from former_customers f where f.stripe_customer_id = ${id}`,
    sub: (id: string) => sql`select c.billing_account_id from subscription_changes c where c.stripe_subscription_id = ${id}`,
    in: (id: string) => sql`select i.billing_account_id from invoices i where i.id = ${id}
    union select p.billing_account_id from paid_invoices p where p.id = ${id}`,
    ch: (id: string) => sql`select r.billing_account_id from charge_returns r where r.charge_id = ${id}
    union select w.billing_account_id from grants g join wallets w on w.id = g.wallet_id where g.charge_id = ${id}
    union select b.billing_account_id from money_backs b where b.charge_id = ${id}`,
    cs: (id: string) => sql`select o.billing_account_id from orders o where o.stripe_session_id = ${id}
    union select m.billing_account_id from checkouts c join billing_account_members m on m.user_id = c.user_id where c.stripe_session_id = ${id}`,
  }),
);

/** The number on an invoice, or on a credit note for it. */
const invoiceNumber = /^([A-Z0-9]{3,}-\d{3,})(-CN-\d+)?$/i;

const payersOfInvoice = (number: string) =>
  sql`select i.billing_account_id from invoices i where lower(i.number) = ${number.toLowerCase()}`;

function found(search: string): RawBuilder<boolean> {
  const text = search.trim();
  if (isUuid(text))
    return sql<boolean>`u.id in (select ${text}::uuid union select m.user_id from billing_account_members m
    where m.billing_account_id = ${text})`;
  const prefix = /^([a-z]+)_\w+$/.exec(text)?.[1] ?? "";
  const accounts = byStripeId.get(prefix)?.(text);
  if (accounts) return payersOf(accounts);
  const number = invoiceNumber.exec(text)?.[1];
  const numbered =
    number === undefined
      ? sql``
      : sql`union select m.user_id from billing_account_members m
    where m.billing_account_id in (${payersOfInvoice(number)})`;
  const pattern = beginning(text.toLowerCase());
  return sql<boolean>`u.id in (${byAddress(pattern, foundAtMost)} union ${byName(pattern, foundAtMost)} ${numbered})`;
}

/** The first by the alphabet, in the order of their index. */
const byAddress = (pattern: string, most: number) => sql`(select i.user_id from identities i
  where i.kind = 'email' and i.subject like ${pattern} order by i.subject using ~<~ limit ${most})`;

/**
 * A name from one of its words on, by how many go before it, as the indexes of migrations/0109_any_word_of_a_name.up.sql have it. An index on what is
 * anywhere in a name (trigrams, words of a text) would have to read all that match before it knows the first of them: with a million people, for "ma"
 * or "an", tens of thousands.
 */
const nameFrom = [
  "lower(n.name)",
  ...[1, 2, 3, 4, 5].map((before) => String.raw`substring(lower(n.name) from '^[\s-]*(?:[^\s-]+[\s-]+){${before}}([^\s-].*)$')`),
];

/** By the beginning of any word. All words together find no more than `most`, because PostgreSQL plans for the sum. */
export function byName(pattern: string, most: number): RawBuilder<unknown> {
  const each = nameFrom.map((text) => {
    const name = sql.raw(text);
    return sql`(select n.id, ${name} as words from users n where n.name is not null and ${name} is not null and ${name} like ${pattern} order by ${name} using ~<~ limit ${most})`;
  });
  return sql`(select w.id from (${sql.join(each, sql` union all `)}) w group by w.id order by min(w.words collate "C") limit ${most})`;
}

/** Whether more people match than are looked through. */
export async function isCut(executor: Executor, { search }: PeopleQuery): Promise<boolean> {
  if (search === undefined) return false;
  const pattern = beginning(search.trim().toLowerCase());
  const { rows } = await sql<{ most: number }>`select greatest(
    (select count(*) from ${byAddress(pattern, foundAtMost + 1)} a), (select count(*) from ${byName(pattern, foundAtMost + 1)} n)) as most`.execute(
    executor,
  );
  return (rows[0]?.most ?? 0) > foundAtMost;
}

export const peopleTable: Table<Row, PersonRow, PeopleQuery, "joined" | "email"> = {
  columns: sql`u.id, e.subject as email, u.name, u.role, u.created_at, u.last_sign_in_at, u.banned_at, u.delete_at, s.plan_key, s.status, w.balance`,
  from: sql`users u join identities e on e.user_id = u.id and e.kind = 'email'
    left join user_subscriptions s on s.user_id = u.id
    left join billing_account_members m on m.user_id = u.id
    left join wallets w on w.billing_account_id = m.billing_account_id`,
  sorts: {
    joined: [
      { column: sql`u.created_at`, type: "timestamptz" },
      { column: sql`u.id`, type: "uuid" },
    ],
    email: [{ column: sql`e.subject`, type: "text" }],
  },
  defaultSort: "joined",
  conditionsOf: ({ search, state }) => [
    search === undefined ? undefined : found(search),
    state === "banned" ? sql<boolean>`u.banned_at is not null` : undefined,
    state === "deleting" ? sql<boolean>`u.delete_at is not null` : undefined,
  ],
  shown: PersonRow,
  show: (row) => ({
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
    plan: row.plan_key,
    planStatus: row.status,
    credits: row.balance ?? 0,
    bannedAt: row.banned_at?.toISOString() ?? null,
    deleteAt: row.delete_at?.toISOString() ?? null,
  }),
};

/** If our rows don't have an id of Stripe's, asks Stripe for its customer and searches for that. Throws `payment_provider_unavailable`. */
export async function withCustomer(deps: Pick<Deps, "db" | "payments" | "log">, query: PeopleQuery): Promise<PeopleQuery> {
  const id = query.search?.trim();
  if (id === undefined || stripePrefix(id) === undefined) return query;
  const { rows } = await readTable(deps.db, peopleTable, { limit: 1 }, { search: id });
  const customer = rows.length > 0 ? undefined : await customerOf(deps, id);
  return customer === undefined ? query : { ...query, search: customer };
}
