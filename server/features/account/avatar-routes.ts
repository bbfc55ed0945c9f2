/** Uploading the picture of an account, and serving it under a name that can't be guessed. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { validate as isUuid } from "uuid";
import { avatarBytes, avatarSizes } from "#domain/avatars.ts";
import { DomainError } from "#domain/errors.ts";
import { profileRoutes as contract } from "../../contract/profile.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { Counts } from "../../http/counts.ts";
import { sendNotFound } from "../../http/problem.ts";
import { viewerOf } from "../../http/viewer.ts";
import { changeAvatar, readAvatar, removeAvatar } from "./avatars.ts";
import { pictureTooLarge, unsupportedPicture } from "./pictures.ts";

/** Uploads at once in this process. Each may have its whole body in memory. */
const uploadsAtOnce = 8;
/** Decoding may take seconds of a processor, so uploads have a limit of their own. */
const uploadLimit = { max: 30, timeWindow: "1 hour" };

/** Lets one upload of each person begin, and a few altogether. Runs before the body is read. */
function limitUploads() {
  const uploads = new Counts();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { userId } = viewerOf(request);
    if (uploads.total >= uploadsAtOnce || !uploads.hasRoom(userId, 1))
      throw new DomainError("rate_limited", "Other pictures are being uploaded. Wait a moment", { retryAfterSeconds: 5 });
    reply.raw.once("close", uploads.add(userId));
  };
}

/**
 * Reads and drops the rest of a body, up to the size of one picture. If we answered and closed the connection while the sender, such as the
 * proxy, still sends, the answer would be lost to it.
 */
async function dropRest(body: IncomingMessage): Promise<void> {
  let left = avatarBytes;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      left -= (chunk as Buffer).length;
      if (left < 0) return;
    }
  } catch {
    // The sender is gone, and the answer with it.
  }
}

async function registerUpload(app: App, deps: Pick<Deps, "db" | "storage" | "log">): Promise<void> {
  // We read the format from the bytes, because the type that a browser sends may be wrong.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^(image\/|application\/octet-stream)/,
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
  app.setErrorHandler(async (error, request, reply) => {
    const { code } = error as { code?: string };
    if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
      await dropRest(request.raw);
      throw pictureTooLarge();
    }
    if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") throw unsupportedPicture();
    return reply.send(error);
  });
  const options = {
    schema: contract["PUT /api/account/avatar"],
    bodyLimit: avatarBytes,
    onRequest: limitUploads(),
    config: { rateLimit: uploadLimit },
  };
  app.put("/api/account/avatar", options, async (request) => {
    if (!Buffer.isBuffer(request.body)) throw unsupportedPicture();
    const { left, top, side } = request.query;
    const crop = side === undefined ? undefined : { left: left ?? 0, top: top ?? 0, side };
    return changeAvatar(deps, viewerOf(request).userId, request.body, crop);
  });
}

/** For a signed-in scope. */
export function avatarRoutes(deps: Pick<Deps, "db" | "storage" | "log">): Routes {
  return async (app) => {
    await app.register(async (scope: App) => registerUpload(scope, deps));
    app.delete("/api/account/avatar", { schema: contract["DELETE /api/account/avatar"] }, async (request) =>
      removeAvatar(deps, viewerOf(request).userId),
    );
  };
}

/** For a public scope, because browsers request images without a token. */
export function publicAvatarRoutes(deps: Pick<Deps, "db" | "storage" | "log">): Routes {
  return async (app) => {
    for (const size of ["small", "large"] as const) {
      app.get(`/avatars/:name/${avatarSizes[size]}.webp`, { schema: { hide: true } }, async (request, reply) => {
        const { name } = request.params as { name: string };
        const picture = isUuid(name) ? await readAvatar(deps, name, size) : undefined;
        if (!picture) return sendNotFound(reply);
        reply.headers({
          "content-type": "image/webp",
          "content-length": String(picture.bytes),
          // May be cached for good, because a changed picture has another address.
          "cache-control": "public, max-age=31536000, immutable",
          "content-disposition": "inline",
          "content-security-policy": "default-src 'none'; sandbox",
        });
        return reply.send(picture.content);
      });
    }
  };
}
