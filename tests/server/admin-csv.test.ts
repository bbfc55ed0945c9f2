/** The panel's lists as files: all rows in pieces, a name by which files are told apart, and each download on the audit log. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRow } from "#contract/admin/team.ts";
import type { OpenApi } from "#tests/support/fuzz-requests.ts";
import { routesOf } from "#tests/support/fuzz-requests.ts";
import type { TestPerson } from "#tests/support/people.ts";
import { createPerson } from "#tests/support/people.ts";
import type { AuthApp } from "./auth-support.ts";
import { createAuthApp } from "./auth-support.ts";

let product: AuthApp;
let admin: TestPerson;
let person: TestPerson;
beforeAll(async () => {
  product = await createAuthApp();
  [admin, person] = [await createPerson(product, product.db), await createPerson(product, product.db)];
  await product.db.updateTable("users").set({ role: "admin" }).where("id", "=", admin.userId).execute();
});
afterAll(() => product.close());

const get = (url: string) => product.app.inject({ url: `/api/admin/${url}`, headers: { authorization: `Bearer ${admin.token}` } });
const downloads = async () => (await get("audit?action=list.downloaded&limit=100")).json<{ rows: AuditRow[] }>().rows;

test("a list of more than a thousand rows is sent in pieces, and has each row once and in order, also rows of one moment", async () => {
  const size = 1_203;
  const message = { name: "Ivo", category: "bug", subject: null, message: "Hi", language: "en", user_id: null } as const;
  const rows = Array.from({ length: size }, (_, each) => ({
    ...message,
    email: `ivo${each}@example.com`,
    idempotency_key: randomUUID(),
    content_hash: Buffer.from("row"),
    // 300 have the same moment: the ends of pieces lie among them.
    created_at: new Date(Date.UTC(2026, 2, 1) + Math.floor(each / 300) * 1_000),
  }));
  await product.db.insertInto("contact_messages").values(rows).execute();
  const headers = { authorization: `Bearer ${admin.token}` };
  const answer = await product.app.inject({ url: "/api/admin/inbox.csv?order=asc", headers, payloadAsStream: true });
  const pieces: string[] = [];
  for await (const piece of answer.stream()) pieces.push(String(piece));
  const linesOf = (text: string) => text.split("\r\n").filter((line) => line !== "");
  // A piece is what is in memory at a time: no more than a page of the table, however long the list is.
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) expect(linesOf(piece).length).toBeLessThanOrEqual(501);
  const [head, ...lines] = linesOf(pieces.join(""));
  expect(head).toContain("id,");
  const whole = await product.db.selectFrom("contact_messages").select("id").orderBy("created_at").orderBy("id").execute();
  expect(lines).toHaveLength(size);
  expect(lines.map((line) => line.split(",")[0]?.replaceAll('"', ""))).toEqual(whole.map(({ id }) => id));
});

test("each file is named by its list and the day, and who downloaded it is on the audit log with the names of the filters alone", async () => {
  const paths = routesOf(product.app.swagger() as unknown as OpenApi)
    .filter(({ method, path }) => method === "GET" && path.startsWith("/api/admin/") && path.endsWith(".csv"))
    .map(({ path }) => path.slice("/api/admin/".length));
  expect(paths.length).toBeGreaterThan(12);
  const names = new Set<string>();
  for (const path of paths) {
    const count = (await downloads()).length;
    const query = path === "figures.csv" ? "?range=30d" : "";
    const file = await get(`${path.replace("{userId}", person.userId)}${query}`);
    const [, list = "", day] =
      /^attachment; filename="tessera-([a-z-]+)-(\d{4}-\d\d-\d\d)\.csv"$/.exec(String(file.headers["content-disposition"])) ?? [];
    expect([path, file.statusCode, day]).toEqual([path, 200, product.deps.clock.now().toISOString().slice(0, 10)]);
    names.add(list);
    const log = await downloads();
    expect([path, log.length]).toEqual([path, count + 1]);
    expect(log[0]).toMatchObject({
      actorEmail: admin.email,
      subjectEmail: path.startsWith("people/") ? person.email : null,
      details: { list, ...(query !== "" && { filters: ["range"] }) },
    });
  }
  expect(names.size).toBe(paths.length);

  await get(`people.csv?search=${encodeURIComponent(person.email)}&state=banned&sort=email&order=asc`);
  const [newest] = await downloads();
  expect(newest?.details).toEqual({ list: "people", filters: ["search", "state"] });
  expect(JSON.stringify(newest?.details)).not.toContain("@");
});

test("what is refused, or is the file of nobody, does not stand on the log as somebody's", async () => {
  const count = (await downloads()).length;
  expect((await get("people.csv?cursor=nonsense")).statusCode).toBe(400);
  expect((await downloads()).length).toBe(count);
  expect((await get(`people/${randomUUID()}/mails.csv`)).statusCode).toBe(200);
  expect((await downloads())[0]).toMatchObject({ subjectEmail: null, details: { list: "person-mails" } });
});
