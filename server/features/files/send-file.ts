/** Sends a file so that a browser can do nothing with it but show, play or keep it. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { shownTypes } from "#domain/files.ts";
import type { FileInfo } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import { filePolicy } from "../../http/security-headers.ts";
import type { ByteRange } from "../../providers/storage/storage.ts";
import { findFile, openFile } from "./service.ts";

const shown: readonly string[] = shownTypes;

/** RFC 6266: an ASCII name for old programs, and the whole one. */
function disposition({ contentType, name }: FileInfo): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${shown.includes(contentType) ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** One range of RFC 9110 §14.1.2. `none`: the whole file is to be sent, also for several ranges at once. */
function rangeOf(header: string | undefined, bytes: number): ByteRange | "none" | "unsatisfiable" {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(" ", "") ?? "") ?? [];
  if (from === "" && to === "") return "none";
  if (from === "")
    return to === "0" || /^0+$/.test(to) || bytes === 0 ? "unsatisfiable" : { first: Math.max(bytes - Number(to), 0), last: bytes - 1 };
  const [first, last] = [Number(from), to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1)];
  if (first >= bytes) return "unsatisfiable";
  return last < first ? "none" : { first, last };
}

function isFresh(request: FastifyRequest, tag: string): boolean {
  const known = request.headers["if-none-match"];
  return known?.split(",").some((each) => [tag, `W/${tag}`, "*"].includes(each.trim())) ?? false;
}

export async function sendFile(
  deps: Pick<Deps, "db" | "storage">,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  userId: string,
  id: string,
): Promise<FastifyReply> {
  const info = await findFile(deps.db, userId, id);
  // The bytes behind an id never change.
  const tag = `"${info.id}"`;
  reply.headers({
    "content-type": info.contentType === "text/plain" ? "text/plain; charset=utf-8" : info.contentType,
    "content-disposition": disposition(info),
    "content-security-policy": filePolicy,
    "accept-ranges": "bytes",
    etag: tag,
    // A browser may keep it and asks each time, so that what was deleted is not shown any more. At sign-out it is told to drop it.
    "cache-control": "private, no-cache",
  });
  if (isFresh(request, tag)) return reply.code(304).send();
  const condition = request.headers["if-range"];
  const range = condition === undefined || condition === tag ? rangeOf(request.headers.range, info.bytes) : "none";
  if (range === "unsatisfiable") return reply.code(416).header("content-range", `bytes */${info.bytes}`).send();
  const length = range === "none" ? info.bytes : range.last - range.first + 1;
  reply.header("content-length", String(length));
  if (range !== "none") reply.code(206).header("content-range", `bytes ${range.first}-${range.last}/${info.bytes}`);
  // Without a body Fastify would say that the file has no bytes.
  if (request.method === "HEAD") return reply.send(Readable.from([]));
  const { content } = await openFile(deps, userId, id, range === "none" ? undefined : range);
  return reply.send(content);
}
