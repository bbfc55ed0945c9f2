/** What uploads of files have in common: few at once, and an answer that reaches a sender who sends too much. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DomainError } from "#domain/errors.ts";
import { Counts } from "./counts.ts";
import { viewerOf } from "./viewer.ts";

/** Uploads at once in this process. Each may have its whole body in memory. */
const uploadsAtOnce = 8;

/** Lets `each` uploads of a person begin, and a few altogether. Runs before the body is read. */
export function limitUploads(each: number) {
  const uploads = new Counts();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { userId } = viewerOf(request);
    if (uploads.total >= uploadsAtOnce || !uploads.hasRoom(userId, each))
      throw new DomainError("rate_limited", "Other files are being uploaded. Wait a moment", { retryAfterSeconds: 5 });
    reply.raw.once("close", uploads.add(userId));
  };
}

/**
 * Reads and drops the rest of a body, up to `bytes`. If we answered and closed the connection while the sender, such as the proxy, still
 * sends, the answer would be lost to it.
 */
export async function dropRest(body: IncomingMessage, bytes: number): Promise<void> {
  let left = bytes;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      left -= (chunk as Buffer).length;
      if (left < 0) return;
    }
  } catch {
    // The sender is gone, and the answer with it.
  }
}
