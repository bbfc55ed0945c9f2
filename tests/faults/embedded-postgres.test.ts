/** Tests what postgres.test.ts tests, but with `npm start`, whose supervisor restarts the killed PostgreSQL by itself. */
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, inject, it } from "vitest";
import { createDatabase, createPool } from "#server/db/database.ts";
import { expectBooksAgree, waitUntilSettled } from "#tests/support/books.ts";
import { full } from "#tests/support/full.ts";
import type { TestDatabase } from "#tests/support/postgres.ts";
import { copyCluster } from "#tests/support/postgres.ts";
import type { ProductFolder } from "#tests/support/supervised.ts";
import { createProductFolder } from "#tests/support/supervised.ts";
import { until } from "#tests/support/until.ts";
import { Visitor } from "#tests/support/visitor.ts";

let folder: ProductFolder | undefined;
let database: Pick<TestDatabase, "db" | "pool"> | undefined;
afterEach(async () => {
  await database?.db.destroy();
  await folder?.remove();
  database = undefined;
  folder = undefined;
}, 30_000);

/** In postmaster.pid the first line is the process id and the fourth the port. */
async function postmasterOf({ dataDir }: ProductFolder): Promise<{ pid: number; port: number }> {
  const lines = (await readFile(path.join(dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
  return { pid: Number(lines[0]), port: Number(lines[3]) };
}

async function openDatabase(own: ProductFolder): Promise<Pick<TestDatabase, "db" | "pool">> {
  const secrets = JSON.parse(await readFile(path.join(own.dataDir, "secrets.json"), "utf8")) as { applicationPassword: string };
  const { port } = await postmasterOf(own);
  const pool = createPool(`postgres://tessera_app:${encodeURIComponent(secrets.applicationPassword)}@127.0.0.1:${port}/tessera`, 2, "test");
  database = { db: createDatabase(pool), pool };
  return database;
}

it.runIf(full)(
  "npm start restarts a PostgreSQL killed with -9 in the middle of an answer; the answer completes and the books agree",
  async () => {
    folder = await createProductFolder();
    // An initialised and migrated PostgreSQL: how one is made is supervisor.test.ts's.
    await mkdir(folder.dataDir, { recursive: true });
    await copyCluster(inject("postgres").preparedFolder, folder.dataDir);
    const product = folder.start();
    await product.said(/Admin .*\n/);
    const books = await openDatabase(folder);
    const visitor = await new Visitor(product.url, product.sandboxUrl).join();
    await visitor.subscribe();
    const headers = { "content-type": "application/json" };
    const setPace = (paceMs: number) =>
      fetch(`${product.sandboxUrl}/models/pace`, { method: "POST", headers, body: JSON.stringify({ paceMs }) });
    await setPace(15);
    const told = visitor.ask({ prompt: "Tell a long story about mosaics" });
    const isLogged = async () =>
      (await books.db.selectFrom("generation_events").select("last_event").where("last_event", ">", 1).execute()).length > 0;
    await until(isLogged, "the first words in the log");
    const { pid } = await postmasterOf(folder);
    process.kill(pid, "SIGKILL");
    await product.said("PostgreSQL has ended unexpectedly");

    const { receipt, text, generationId } = await told;
    expect(receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect((await postmasterOf(folder)).pid).not.toBe(pid);
    await setPace(0);
    expect(await visitor.resume(generationId, 0)).toMatchObject({ text, receipt });
    expect((await visitor.ask()).receipt).toMatchObject({ status: "completed", chargedCredits: 1 });
    expect((await visitor.check()).credits).toBe(298);
    await waitUntilSettled(books);
    await expectBooksAgree(books);
  },
  180_000,
);
