/**
 * The sandbox's own database, separate from the product's: the objects as the API returns them, what Stripe knows about them but
 * does not return, planned work, and undelivered webhooks. Each request is one transaction, with a write-ahead log, so that
 * kill -9 leaves all of a request's changes or none.
 */

import type { SQLInputValue, StatementSync } from "node:sqlite";
import { DatabaseSync } from "node:sqlite";
import { referenceMissing, resourceMissing } from "./errors.ts";
import type { Due, DueAction, HiddenKind, HiddenKinds, Kind, Kinds } from "./kinds.ts";
import { dueActions, nounOf } from "./kinds.ts";

const schema = `
  pragma journal_mode = wal;
  pragma synchronous = normal;
  pragma busy_timeout = 5000;
  create table if not exists objects (
    sequence integer primary key autoincrement, id text not null unique, kind text not null, deleted integer not null default 0, data text not null);
  create index if not exists objects_kind on objects (kind, deleted, sequence);
  create index if not exists objects_created on objects (kind, json_extract(data, '$.created'));
  create index if not exists objects_customer on objects (kind, json_extract(data, '$.customer'));
  create index if not exists objects_charge on objects (kind, json_extract(data, '$.charge'));
  create index if not exists objects_intent on objects (kind, json_extract(data, '$.payment_intent'));
  create index if not exists objects_invoice on objects (kind, json_extract(data, '$.invoice'));
  create index if not exists objects_lookup_key on objects (kind, json_extract(data, '$.lookup_key'));
  create index if not exists objects_parent on objects (kind, json_extract(data, '$.parent.subscription_details.subscription'));
  create index if not exists objects_payment on objects (kind, json_extract(data, '$.payment.payment_intent'));
  create index if not exists objects_available on objects (json_extract(data, '$.available_on'))
    where kind = 'balance_transaction' and json_extract(data, '$.status') = 'pending';
  create table if not exists hidden (id text primary key, data text not null);
  create table if not exists due (target text not null, action text not null, at integer not null, rank integer not null, primary key (target, action));
  create index if not exists due_at on due (at, rank);
  create table if not exists deliveries (
    sequence integer primary key autoincrement, event text not null, first_at_ms integer not null, next_at_ms integer not null,
    not_before_ms integer not null default 0, attempts integer not null default 0, blocking integer not null default 1,
    reordered integer not null default 0, fault text, state text not null default 'waiting');
  create index if not exists deliveries_event on deliveries (event, state);
  create index if not exists deliveries_waiting on deliveries (state, sequence);
  create table if not exists endpoint_deliveries (
    sequence integer primary key autoincrement, event text not null, endpoint text not null, first_at_ms integer not null,
    next_at_ms integer not null, attempts integer not null default 0);
  create table if not exists idempotency (key text primary key, fingerprint text not null, status integer not null, body text not null, at_ms integer not null);
`;

export interface Filter {
  /** A JSON path below the object, such as `parent.subscription_details.subscription`. */
  path: string;
  operator: "=" | "!=" | "glob" | ">" | ">=" | "<" | "<=" | "in";
  value: string | number | boolean | readonly string[];
}

export interface Page {
  limit: number;
  startingAfter: string | undefined;
  endingBefore: string | undefined;
}

function condition(filter: Filter): { sql: string; values: SQLInputValue[] } {
  const column = `json_extract(data, '$.${filter.path}')`;
  if (Array.isArray(filter.value)) return { sql: `${column} in (${filter.value.map(() => "?").join(", ")})`, values: [...filter.value] };
  const value = typeof filter.value === "boolean" ? Number(filter.value) : filter.value;
  return { sql: `${column} ${filter.operator} ?`, values: [value as SQLInputValue] };
}

export class Store {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();
  private depth = 0;

  constructor(path: string) {
    this.database = new DatabaseSync(path);
    this.database.exec(schema);
  }

  close(): void {
    this.database.close();
  }

  statement(sql: string): StatementSync {
    const known = this.statements.get(sql) ?? this.database.prepare(sql);
    this.statements.set(sql, known);
    return known;
  }

  /** A nested call that fails undoes its own work and leaves the rest to the outer one. */
  transaction<Result>(work: () => Result): Result {
    const nested = this.depth > 0;
    const name = `level_${this.depth}`;
    this.database.exec(nested ? `savepoint ${name}` : "begin immediate");
    this.depth += 1;
    try {
      const result = work();
      this.database.exec(nested ? `release ${name}` : "commit");
      return result;
    } catch (error) {
      this.database.exec(nested ? `rollback to ${name}; release ${name}` : "rollback");
      throw error;
    } finally {
      this.depth -= 1;
    }
  }

  insert<K extends Kind>(kind: K, object: Kinds[K]): Kinds[K] {
    this.statement("insert into objects (id, kind, data) values (?, ?, ?)").run(object.id, kind, JSON.stringify(object));
    return object;
  }

  save<K extends Kind>(kind: K, object: Kinds[K]): Kinds[K] {
    this.statement("update objects set data = ? where id = ? and kind = ?").run(JSON.stringify(object), object.id, kind);
    return object;
  }

  /** Replaces the object by its deleted form, which can be read by id but is in no list. */
  markDeleted(id: string, tombstone: object): void {
    this.statement("update objects set data = ?, deleted = 1 where id = ?").run(JSON.stringify(tombstone), id);
  }

  find<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    const row = this.statement("select data from objects where id = ? and kind = ? and deleted = 0").get(id, kind);
    return row ? (JSON.parse(String(row.data)) as Kinds[K]) : undefined;
  }

  /** Any object by its id, deleted ones included; for expansion. */
  findAny(id: string): object | undefined {
    const row = this.statement("select data from objects where id = ?").get(id);
    return row ? (JSON.parse(String(row.data)) as object) : undefined;
  }

  /** Throws 404 `resource_missing`, naming `param`. */
  get<K extends Kind>(kind: K, id: string, param = "id"): Kinds[K] {
    const object = this.find(kind, id);
    if (!object) throw resourceMissing(nounOf(kind), id, param);
    return object;
  }

  /** For an id inside a request: throws 400 `resource_missing`, naming `param`. */
  reference<K extends Kind>(kind: K, id: string, param: string): Kinds[K] {
    const object = this.find(kind, id);
    if (!object) throw referenceMissing(nounOf(kind), id, param);
    return object;
  }

  /** Oldest first. */
  where<K extends Kind>(kind: K, filters: readonly Filter[] = [], limit = 10_000): Kinds[K][] {
    const conditions = filters.map(condition);
    const sql = `select data from objects where kind = ? and deleted = 0${conditions.map((item) => ` and ${item.sql}`).join("")} order by sequence limit ?`;
    return this.statement(sql)
      .all(kind, ...conditions.flatMap((item) => item.values), limit)
      .map((row) => JSON.parse(String(row.data)) as Kinds[K]);
  }

  private sequenceOf(kind: Kind, id: string, param: string): number {
    const row = this.statement("select sequence from objects where id = ? and kind = ?").get(id, kind);
    if (!row) throw referenceMissing(nounOf(kind), id, param);
    return Number(row.sequence);
  }

  /** Newest first, as in all of Stripe's lists. */
  page<K extends Kind>(kind: K, filters: readonly Filter[], page: Page): { data: Kinds[K][]; hasMore: boolean } {
    const conditions = filters.map(condition);
    const backwards = page.endingBefore !== undefined;
    if (page.startingAfter !== undefined)
      conditions.push({ sql: "sequence < ?", values: [this.sequenceOf(kind, page.startingAfter, "starting_after")] });
    if (page.endingBefore !== undefined)
      conditions.push({ sql: "sequence > ?", values: [this.sequenceOf(kind, page.endingBefore, "ending_before")] });
    const sql = `select data from objects where kind = ? and deleted = 0${conditions.map((item) => ` and ${item.sql}`).join("")} order by sequence ${backwards ? "asc" : "desc"} limit ?`;
    const rows = this.statement(sql).all(kind, ...conditions.flatMap((item) => item.values), page.limit + 1);
    const data = rows.slice(0, page.limit).map((row) => JSON.parse(String(row.data)) as Kinds[K]);
    return { data: backwards ? data.reverse() : data, hasMore: rows.length > page.limit };
  }

  hide<K extends HiddenKind>(_kind: K, id: string, data: HiddenKinds[K]): void {
    this.statement("insert into hidden (id, data) values (?, ?) on conflict (id) do update set data = excluded.data").run(
      id,
      JSON.stringify(data),
    );
  }

  findHidden<K extends HiddenKind>(_kind: K, id: string): HiddenKinds[K] | undefined {
    const row = this.statement("select data from hidden where id = ?").get(id);
    return row ? (JSON.parse(String(row.data)) as HiddenKinds[K]) : undefined;
  }

  hidden<K extends HiddenKind>(kind: K, id: string): HiddenKinds[K] {
    const data = this.findHidden(kind, id);
    if (!data) throw new Error(`the sandbox has no hidden state for ${kind} ${id}`);
    return data;
  }

  /** Plans an action for a target; planning the same action again moves it. `at` is in Unix seconds of business time. */
  plan(target: string, action: DueAction, at: number): void {
    this.statement(
      "insert into due (target, action, at, rank) values (?, ?, ?, ?) on conflict (target, action) do update set at = excluded.at",
    ).run(target, action, at, dueActions.indexOf(action));
  }

  unplan(target: string, action?: DueAction): void {
    if (action === undefined) this.statement("delete from due where target = ?").run(target);
    else this.statement("delete from due where target = ? and action = ?").run(target, action);
  }

  nextDue(): Due | undefined {
    const row = this.statement("select target, action, at from due order by at, rank, rowid limit 1").get();
    const action = dueActions.find((candidate) => candidate === row?.action);
    return row && action ? { target: String(row.target), action, at: Number(row.at) } : undefined;
  }
}
