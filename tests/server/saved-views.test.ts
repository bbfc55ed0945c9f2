/** Saved views of the panel's lists: each member's own, bounded, without anybody's address or id, and gone with the role or the account. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SavedView } from "#contract/admin/views.ts";
import { mostViews, viewOf } from "#domain/tables.ts";
import type { Role } from "#domain/team.ts";
import { sections } from "#server/features/own-data/sections.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let ada: TestPerson;
let ben: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
  [ada, ben, person] = [await personAs("admin"), await personAs("support"), await personAs("user")];
});
afterAll(() => product.close());

async function personAs(role: Role): Promise<TestPerson> {
  const one = await createPerson(product, product.db);
  await product.db.updateTable("users").set({ role }).where("id", "=", one.userId).execute();
  return one;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
const call = (method: Method, path: string, { token }: TestPerson, payload?: object) =>
  product.app.inject({ method, url: `/api/admin/${path}`, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) });
const save = (who: TestPerson, name: string, search = "status=open", list = "inbox") => call("POST", "views", who, { list, name, search });
const viewsOf = async (who: TestPerson, list = "inbox") =>
  (await call("GET", `views?list=${list}`, who)).json<{ views: SavedView[] }>().views;
const named = async (who: TestPerson, list?: string) => (await viewsOf(who, list)).map(({ name, search }) => [name, search]);

test("each member of the team saves, renames and deletes their own, by list and name; for others there are none", async () => {
  expect((await save(ada, " Open bugs ", "category=bug&status=open&order=asc&sort=time")).statusCode).toBe(200);
  await save(ada, "Mine", "owner=me");
  await save(ada, "Payments", "state=waiting", "jobs");
  await save(ben, "Mine", "owner=nobody");
  expect([await named(ada), await named(ada, "jobs"), await named(ben)]).toEqual([
    [
      ["Mine", "owner=me"],
      ["Open bugs", "category=bug&status=open&order=asc&sort=time"],
    ],
    [["Payments", "state=waiting"]],
    [["Mine", "owner=nobody"]],
  ]);
  // The same name again replaces what it says.
  expect((await save(ada, "Mine", "owner=me&status=open")).json().views).toHaveLength(2);
  const [mine, bugs] = await viewsOf(ada);
  const id = mine?.id ?? "";
  for (const [method, body] of [
    ["PATCH", { name: "Taken over" }],
    ["DELETE", undefined],
  ] as const)
    for (const [who, path] of [
      [ben, `views/${id}`],
      [person, `views/${id}`],
    ] as const)
      expect([method, (await call(method, path, who, body)).json().code]).toEqual([method, "not_found"]);
  for (const response of [await call("GET", "views?list=inbox", person), await save(person, "Mine")])
    expect([response.statusCode, response.json().code]).toEqual([404, "not_found"]);
  expect((await call("PATCH", `views/${id}`, ada, { name: "Open bugs" })).json().code).toBe("conflict");
  expect((await call("PATCH", `views/${id}`, ada, { name: "Ours" })).json().views.map(({ name }: SavedView) => name)).toEqual([
    "Open bugs",
    "Ours",
  ]);
  expect((await call("DELETE", `views/${bugs?.id}`, ada)).statusCode).toBe(204);
  expect(await named(ada)).toEqual([["Ours", "owner=me&status=open"]]);
});

test("a view keeps filters that were chosen, order and columns: no page, nothing that was typed, nobody's address or id", async () => {
  const colleague = ben.userId;
  const address = `?status=open&sender=ada%40example.com&owner=${colleague}&after=abc&columns=sender,time&x=1&order=asc&sort=time`;
  expect(viewOf("inbox", address)).toBe("status=open&columns=sender%2Ctime&order=asc&sort=time");
  expect(viewOf("events", "type=ada@example.com&status=failed")).toBe("status=failed");
  for (const search of [`owner=${colleague}`, "sender=ada", "status=open&after=abc", "status=open&order=asc&columns=time"])
    expect([search, (await save(ada, "Refused", search)).statusCode]).toEqual([search, 400]);
  expect((await save(ada, "Refused", "status=open", "no-list")).statusCode).toBe(400);
  for (const name of ["", "  ", "x".repeat(41)]) expect((await save(ada, name)).statusCode).toBe(400);
});

test("there are so many of a list and no more, also if several are saved at once", async () => {
  const many = await Promise.all(Array.from({ length: mostViews + 5 }, (_, index) => save(ada, `View ${index}`, "state=banned", "people")));
  expect(many.filter(({ statusCode }) => statusCode === 200)).toHaveLength(mostViews);
  expect(many.find(({ statusCode }) => statusCode !== 200)?.json().code).toBe("conflict");
  expect(await named(ada, "people")).toHaveLength(mostViews);
});

test("they are in an export, and go with the role", async () => {
  await save(ben, "Mine", "owner=me", "inbox");
  const section = sections.find(({ name }) => name === "saved-views");
  const exported = await section?.rows(ben.userId).execute(product.db);
  expect(exported?.rows.map(({ item }) => item)).toMatchObject([{ list: "inbox", name: "Mine", search: "owner=me" }]);
  const taken = { email: ben.email, was: "support", role: "user", reason: "They have another job now" };
  expect((await call("PUT", "team", ada, taken)).statusCode).toBe(204);
  const left = product.db.selectFrom("saved_views").select("id").where("user_id", "=", ben.userId);
  expect(await left.execute()).toEqual([]);
});

test("of the inbox one's own messages are a filter without an id", async () => {
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const [key, owner] of [
    [first, ada.userId],
    [second, null],
  ] as const) {
    const about = {
      name: "Grace",
      email: "grace@example.com",
      language: "en",
      category: "bug",
      subject: key,
      message: "It broke",
    } as const;
    const row = { ...about, idempotency_key: key, content_hash: Buffer.from(key), user_id: null, created_at: new Date(), owner_id: owner };
    await product.db.insertInto("contact_messages").values(row).execute();
  }
  const subjects = async (query: string) =>
    (await call("GET", `inbox?${query}`, ada)).json().rows.map(({ subject }: { subject: string }) => subject);
  expect([await subjects("owner=me"), await subjects("owner=nobody")]).toEqual([[first], [second]]);
});
