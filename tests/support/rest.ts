/** Stops a product's processes while no test uses it (Linux only), because their polling takes a twentieth of a core for each product. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { commandOf, signal } from "#server/embedded/processes.ts";
import type { TestDatabase } from "./postgres.ts";
import type { Product } from "./supervised.ts";
import { until } from "./until.ts";

const tries = 20;
const betweenTriesMs = 25;

/** API, worker and sandbox, the sandbox first. */
async function partsOf({ process: { pid } }: Product): Promise<number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "")).match(/\d+/g)?.map(Number) ?? [];
  const commands = await Promise.all(children.map(commandOf));
  return [/sandbox\/main/, /(server|worker)\/main/].flatMap((entry) => children.filter((_, index) => entry.test(commands[index] ?? "")));
}

/** Whether a transaction is open. It would keep its locks for as long as its process is stopped. */
async function isInTransaction({ pool }: TestDatabase): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'",
  );
  return rowCount !== 0;
}

/** Stops the processes at a moment when no transaction is open. If it finds no such moment, it leaves them running. */
export async function rest(product: Product, database: TestDatabase): Promise<void> {
  for (let tried = 0; tried < tries; tried += 1) {
    const parts = await partsOf(product);
    for (const pid of parts) signal(pid, "SIGSTOP");
    // PostgreSQL meanwhile executes what the processes had sent before they were stopped.
    await delay(betweenTriesMs);
    if (!(await isInTransaction(database))) return;
    for (const pid of parts) signal(pid, "SIGCONT");
    await delay(betweenTriesMs);
  }
}

/**
 * Lets the processes continue. Before they answer, they do what became due meanwhile, such as closing idle connections. The sandbox goes
 * first, so that the others find no connection to it that is about to be closed.
 */
export async function wake(product: Product): Promise<void> {
  const parts = await partsOf(product);
  const answers = (url: string) =>
    fetch(url, { headers: { connection: "close" } }).then(
      () => true,
      () => false,
    );
  for (const pid of parts.slice(0, 1)) signal(pid, "SIGCONT");
  await until(() => answers(product.sandboxUrl), "the sandbox to answer");
  for (const pid of parts) signal(pid, "SIGCONT");
  await until(() => answers(`${product.url}/healthz`), "the API to answer");
}
