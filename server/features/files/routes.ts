import type { FastifyRequest } from "fastify";
import { validate as isUuid } from "uuid";
import { attachmentBytes, fileLimits } from "#domain/files.ts";
import { recordingBytes, recordingLimits } from "#domain/transcripts.ts";
import { fileRoutes as contract } from "../../contract/files.ts";
import type { Deps } from "../../deps.ts";
import type { App, Routes } from "../../http/app-type.ts";
import { slowRecordingMs, slowUploadMs } from "../../http/body-timeout.ts";
import { sendNotFound } from "../../http/problem.ts";
import { dropRest, limitUploads } from "../../http/upload-limits.ts";
import { viewerOf } from "../../http/viewer.ts";
import { createSessionCheck } from "../auth/viewer.ts";
import { addAttachment } from "./attachments.ts";
import { addRecording } from "./recordings.ts";
import { listRoom } from "./room.ts";
import { sendFile } from "./send-file.ts";
import { deleteFiles, deleteUnsent, listFiles, tooLarge } from "./service.ts";
import { readAddress, signAddresses } from "./signed-addresses.ts";

type RouteDeps = Pick<Deps, "config" | "db" | "storage" | "clock">;

const uploadsOfOnePerson = 3;
const recordingsOfOnePerson = 1;
/** Decoding may take seconds of a processor, so uploads have a limit of their own. */
const uploadLimit = { max: 200, timeWindow: "1 hour" };

function takeBytes(app: App, bytes: number, megabytes: number): void {
  // The content decides about the type, because what a browser sends may be wrong.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, async (_request: FastifyRequest, body: Buffer) => body);
  app.setErrorHandler(async (error, request, reply) => {
    if ((error as { code?: string }).code !== "FST_ERR_CTP_BODY_TOO_LARGE") return reply.send(error);
    await dropRest(request.raw, bytes);
    throw tooLarge(megabytes);
  });
}

async function registerUpload(app: App, deps: RouteDeps): Promise<void> {
  takeBytes(app, attachmentBytes, fileLimits.megabytes);
  const options = {
    schema: contract["POST /api/files"],
    bodyLimit: attachmentBytes,
    onRequest: limitUploads(uploadsOfOnePerson),
    config: { rateLimit: uploadLimit, bodyTimeoutMs: slowUploadMs },
  };
  app.post("/api/files", options, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return reply.code(201).send(await addAttachment(deps, viewerOf(request).userId, request.query.name, body));
  });
}

async function registerRecordings(app: App, deps: RouteDeps): Promise<void> {
  takeBytes(app, recordingBytes, recordingLimits.megabytes);
  const options = {
    schema: contract["POST /api/recordings"],
    bodyLimit: recordingBytes,
    onRequest: limitUploads(recordingsOfOnePerson),
    config: { rateLimit: uploadLimit, bodyTimeoutMs: slowRecordingMs },
  };
  app.post("/api/recordings", options, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    return reply.code(201).send(await addRecording(deps, viewerOf(request).userId, request.query.name, body));
  });
}

/** For a signed-in scope. */
export function fileRoutes(deps: RouteDeps): Routes {
  return async (app) => {
    await app.register(async (scope: App) => registerUpload(scope, deps));
    await app.register(async (scope: App) => registerRecordings(scope, deps));
    app.get("/api/files", { schema: contract["GET /api/files"] }, async (request) =>
      listFiles(deps, viewerOf(request).userId, request.query),
    );
    app.get("/api/files/room", { schema: contract["GET /api/files/room"] }, async (request) =>
      listRoom(deps, viewerOf(request).userId, request.query),
    );
    app.post("/api/files/addresses", { schema: contract["POST /api/files/addresses"] }, async (request) => ({
      addresses: await signAddresses(deps, viewerOf(request), request.body.ids),
    }));
    app.get("/api/files/:id", { schema: contract["GET /api/files/:id"] }, async (request, reply) =>
      sendFile(deps, { request, reply }, viewerOf(request).userId, request.params.id),
    );
    app.delete("/api/files/:id", { schema: contract["DELETE /api/files/:id"] }, async (request, reply) => {
      const { userId } = viewerOf(request);
      const { id } = request.params;
      const deleted = request.query.unsent ? await deleteUnsent(deps.db, userId, id) : await deleteFiles(deps.db, userId, [id]);
      if (deleted === 0) return sendNotFound(reply);
      return reply.code(204).send(null);
    });
  };
}

/** For a public scope: the address itself says who may read. */
export function publicFileRoutes(deps: RouteDeps): Routes {
  const checkSessions = createSessionCheck(deps);
  return async (app) => {
    app.get("/api/files/:id/:ticket", { schema: { hide: true } }, async (request, reply) => {
      const { id, ticket } = request.params as { id: string; ticket: string };
      if (!isUuid(id)) return sendNotFound(reply);
      return sendFile(deps, { request, reply }, await readAddress(deps, checkSessions, id, ticket), id);
    });
  };
}
