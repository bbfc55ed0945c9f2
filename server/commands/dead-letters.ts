/**
 * `npm run dead-letters [-- --replay <id> | --replay-all <job> | --replay-events <type>]` lists the jobs that failed for good and
 * the events of Stripe's that no code acted on, or puts them back into the queue. It uses the database of DATABASE_URL, or else the
 * running PostgreSQL of DATA_DIR.
 */
import { parseArgs } from "node:util";
import { validate as isUuid } from "uuid";
import type { Db } from "../db/database.ts";
import { createDatabase, createPool } from "../db/database.ts";
import { isJobName, jobs } from "../queue/jobs.ts";
import { listDeadLetters, listSetAsideEvents, replayDeadLetter, replayDeadLetters, replaySetAsideEvents } from "../queue/replay.ts";
import { StartError } from "../start-error.ts";
import { databaseAddress } from "./database-address.ts";
import { runCommand } from "./run-command.ts";

const listed = 200;
const errorCharacters = 160;

async function listEvents(db: Db): Promise<string[]> {
  const types = await listSetAsideEvents(db);
  return types.map(({ type, count }) => `${type}  ${count} set aside: this release does not act on them`);
}

async function listJobs(db: Db): Promise<string[]> {
  const letters = await listDeadLetters(db, listed);
  if (letters.length === 0) return ["no job has failed for good"];
  const lines = letters.map(({ id, job, failed_at, error }) => {
    const [reason = ""] = error.split("\n", 1);
    return `${id}  ${job}  since ${failed_at.toISOString()}  ${reason.slice(0, errorCharacters)}`;
  });
  return letters.length < listed ? lines : [...lines, `the oldest ${listed} are shown; there may be more`];
}

async function replayOne(db: Db, id: string): Promise<string[]> {
  if (!isUuid(id)) throw new StartError(`"${id}" is not the id of a dead letter: npm run dead-letters lists the ids`);
  if (!(await replayDeadLetter(db, id))) throw new StartError(`there is no dead letter ${id}, or it was put back already`);
  return [`${id} was put back into the queue`];
}

async function replayAll(db: Db, job: string): Promise<string[]> {
  if (!isJobName(job)) throw new StartError(`there is no job "${job}"; the jobs are ${Object.keys(jobs).join(", ")}`);
  const count = await replayDeadLetters(db, job);
  return [count === 1 ? `1 ${job} job was put back into the queue` : `${count} ${job} jobs were put back into the queue`];
}

async function replayEvents(db: Db, type: string): Promise<string[]> {
  const count = await replaySetAsideEvents(db, type);
  return [count === 1 ? `1 ${type} event was put back into the queue` : `${count} ${type} events were put back into the queue`];
}

async function run(): Promise<string[]> {
  const option = { type: "string" } as const;
  const { values } = parseArgs({ options: { replay: option, "replay-all": option, "replay-events": option } });
  const { replay, "replay-all": job, "replay-events": type } = values;
  if (Object.keys(values).length > 1) throw new StartError("give one of --replay, --replay-all and --replay-events");
  const db = createDatabase(createPool(await databaseAddress(process.env), 1, "tessera dead letters"));
  try {
    if (replay !== undefined) return await replayOne(db, replay);
    if (type !== undefined) return await replayEvents(db, type);
    return job === undefined ? [...(await listJobs(db)), ...(await listEvents(db))] : await replayAll(db, job);
  } finally {
    await db.destroy();
  }
}

await runCommand(run);
