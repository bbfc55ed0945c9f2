/**
 * Starts and ends of answers as the service writes them, and the same statements as a script for pgbench. The statements come from the
 * service's own code, so that pgbench runs what the product runs.
 */
import { randomUUID } from "node:crypto";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Db } from "#server/db/database.ts";
import type { Database } from "#server/db/types.ts";
import type { EndRow } from "#server/features/generations/ends.ts";
import { callEnds } from "#server/features/generations/ends.ts";
import type { StartRow } from "#server/features/generations/starts.ts";
import { callStarts } from "#server/features/generations/starts.ts";
import { endOf, startOf } from "../support/starts.ts";

/** Nobody is refused: what a refusal costs is not measured. */
const unlimited = { requestsPerMinute: 1_000_000, concurrentAnswers: 1_000_000 };
const kinds = ["plan", "adjustment", "pack", "trial"] as const;

/** A question that opens a conversation, at one credit. */
export const askedBy = (userId: string): StartRow => ({ ...startOf(userId), ...unlimited, kinds });

const frames = 'id: 1\nevent: text\ndata: {"text":"Hello to you"}\n\n';
/** Ends the answer with the last batch of its log, and charges all of its credits. */
export const answered = (start: StartRow): EndRow => ({
  ...endOf(start),
  firstTextMs: 400,
  lastFrames: { generationId: start.id, firstEvent: 1, lastEvent: 1, frames },
});

interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

/** What `work` asks of the database. It gets no rows. */
async function statementOf(work: (db: Db) => Promise<unknown>): Promise<Statement> {
  const asked: Statement[] = [];
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void asked.push(query),
  });
  await work(db);
  const [statement] = asked;
  if (!statement || asked.length > 1) throw new Error(`the service asked for ${asked.length} statements instead of one`);
  return statement;
}

/** pgbench takes a colon followed by a letter or a digit for a variable, also within quotes, so colons are written as escapes. */
const quoted = (text: string) =>
  `U&'${text.replaceAll("\\", "\\\\").replaceAll("'", "''").replaceAll(":", "\\003a").replaceAll("\n", "\\000a")}'`;

function toText(parameter: unknown): string {
  if (Array.isArray(parameter)) return `{${parameter.map(toText).join()}}`;
  return parameter instanceof Date ? parameter.toISOString() : String(parameter);
}

/** The statement on one line with its parameters as literals. An id that `expressions` has is replaced by its SQL expression. */
function written({ sql, parameters }: Statement, expressions: Readonly<Record<string, string>>): string {
  const known = new RegExp(`(${Object.keys(expressions).join("|")})`);
  const expression = (parameter: unknown) =>
    `(${toText(parameter)
      .split(known)
      .map((piece) => expressions[piece] ?? quoted(piece))
      .join(" || ")})`;
  return sql
    .replace("/* prepared */", "")
    .replace(/\$(\d+)/g, (_, number: string) => expression(parameters[Number(number) - 1]))
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Starts and ends an answer for each of `userIds`, which are SQL expressions and may use the variables that `preamble` sets. One statement
 * starts all of them and one ends them.
 */
export async function answersScript(preamble: string, userIds: readonly string[]): Promise<string> {
  const expressions: Record<string, string> = {};
  const starts = userIds.map((expression) => {
    const start = askedBy(randomUUID());
    const { conversationId, questionId, answerId } = start.turn ?? {};
    for (const id of [start.id, conversationId, questionId, answerId]) if (id) expressions[id] = "uuidv7()::text";
    expressions[start.idempotencyKey] = "gen_random_uuid()::text";
    expressions[start.userId] = expression;
    return start;
  });
  const begin = written(await statementOf((db) => callStarts(db, starts, false)), expressions);
  const variables = starts.map((_, place) => `max(generation_id::text) filter (where place = ${place}) as id_${place}`);
  const ids = Object.fromEntries(starts.map(({ id }, place) => [id, `:id_${place}::text`]));
  const end = written(await statementOf((db) => callEnds(db, starts.map(answered), false)), ids);
  return [preamble, `select ${variables.join(", ")} from (${begin}) started \\gset`, `${end};`, ""].join("\n");
}
