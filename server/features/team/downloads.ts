/** The lists of the panel as files: each file that a team member downloads is on the audit log. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { TObject } from "typebox";
import type { DownloadedList } from "#domain/tables.ts";
import { recordAct } from "../../db/audit.ts";
import type { Deps } from "../../deps.ts";
import { csvHeaders, headOf, linesOf } from "../../http/csv-response.ts";
import { isPerson } from "./queries.ts";
import { clerkOf } from "./service.ts";

export interface Download {
  deps: Pick<Deps, "db" | "clock">;
  request: FastifyRequest;
  reply: FastifyReply;
  list: DownloadedList;
  /** The id of the person whose list it is. */
  about?: string;
}

/** Parameters that choose the order and the start of the list, and not which rows are in it. */
const noFilters = ["sort", "order", "cursor", "limit"];

/** Only the names of the filters: what is looked for may be somebody's address. */
async function record({ deps: { db }, request, list, about }: Download): Promise<void> {
  const { userId: actor, network } = clerkOf(request);
  const filters = Object.keys(request.query as object).filter((name) => !noFilters.includes(name));
  const subject = about !== undefined && (await isPerson(db, about)) ? about : null;
  await recordAct(db, { actor, subject, network, action: "list.downloaded", details: { list, ...(filters.length > 0 && { filters }) } });
}

/** Writes to the audit log before the first lines go out. A request that is refused while they are read is not recorded. */
async function* recorded(download: Download, lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let isRecorded = false;
  for await (const some of lines) {
    if (!isRecorded) await record(download);
    isRecorded = true;
    yield some;
  }
}

/** Sends what is made while it is sent; it ends with the connection. The file is named by its list and the day in UTC. */
export function sendDownload(download: Download, lines: AsyncIterable<string>): FastifyReply {
  const { deps, list, reply } = download;
  const rows = Readable.from(recorded(download, lines));
  reply.raw.once("close", () => rows.destroy());
  return reply.headers(csvHeaders(list, deps.clock.now())).send(rows);
}

/** Sends rows that are all in memory. */
export async function sendRows(download: Download, shown: TObject, rows: readonly Record<string, unknown>[]): Promise<FastifyReply> {
  await record(download);
  const { deps, list, reply } = download;
  return reply.headers(csvHeaders(list, deps.clock.now())).send(`${headOf(shown)}${linesOf(shown, rows)}`);
}
