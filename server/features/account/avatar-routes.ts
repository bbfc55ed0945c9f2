/** Uploading the picture of an account, and serving it under a name that can't be guessed. */
import type { FastifyRequest } from "fastify";
import { validate as isUuid } from "uuid";
import { avatarBytes, avatarSizes } from "#domain/avatars.ts";
import { profileRoutes as contract } from "../../contract/account/profile.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { slowUploadMs } from "../../http/body-timeout.ts";
import { sendNotFound } from "../../http/problem.ts";
import { filePolicy } from "../../http/security-headers.ts";
import { dropRest, limitUploads } from "../../http/upload-limits.ts";
import { viewerOf } from "../../http/viewer.ts";
import { changeAvatar, readAvatar, removeAvatar } from "./avatars.ts";
import { pictureTooLarge, unsupportedPicture } from "./pictures.ts";

/** Decoding may take seconds of a processor, so uploads have a limit of their own. */
const uploadLimit = { max: 30, timeWindow: "1 hour" };

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
      await dropRest(request.raw, avatarBytes);
      throw pictureTooLarge();
    }
    if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") throw unsupportedPicture();
    return reply.send(error);
  });
  const options = {
    schema: contract["PUT /api/account/avatar"],
    bodyLimit: avatarBytes,
    onRequest: limitUploads(1),
    config: { rateLimit: uploadLimit, bodyTimeoutMs: slowUploadMs },
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
          // The browser may keep it until sign-out, because a changed picture has another address. Caches on the way must not keep it.
          "cache-control": "private, max-age=31536000, immutable",
          "content-disposition": "inline",
          "content-security-policy": filePolicy,
        });
        return reply.send(picture.content);
      });
    }
  };
}
