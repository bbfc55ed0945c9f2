import type { Static } from "typebox";
import { Type } from "typebox";
import { fileCategories, fileOrders } from "#domain/file-categories.ts";
import { NoContent, Timestamp, Uuid } from "./common.ts";
import type { RouteContract } from "./route.ts";

const Measure = Type.Union([Type.Integer(), Type.Null()]);
const FileKind = Type.Union([Type.Literal("attachment"), Type.Literal("output")]);

export const FileInfo = Type.Object({
  id: Uuid,
  /** What the person attached, or what a model made. */
  kind: FileKind,
  name: Type.String(),
  /** By its content. */
  contentType: Type.String(),
  bytes: Type.Integer(),
  /** A picture's or a clip's, in pixels. */
  width: Measure,
  height: Measure,
  /** Only a sound and a clip have it. */
  durationMs: Measure,
  /** Only a PDF has it. */
  pages: Measure,
  /** How much text a document has, in bytes of UTF-8. */
  textBytes: Measure,
  /** Where the text of each page of a PDF ends. */
  pageEnds: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  /** The most tokens that a document's text has up to the end of each page; without pages, up to the end of each 10,000 bytes. */
  tokenEnds: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  /** The answer that made it. */
  generationId: Type.Union([Uuid, Type.Null()]),
  createdAt: Timestamp,
});
export type FileInfo = Static<typeof FileInfo>;

const FileCategory = Type.Enum([...fileCategories]);

export const RoomFile = Type.Object({
  id: Uuid,
  category: FileCategory,
  name: Type.String(),
  /** The beginning of the question whose answer it is; null for what was attached, and for an answer that was read aloud. */
  prompt: Type.Union([Type.String(), Type.Null()]),
  contentType: Type.String(),
  bytes: Type.Integer(),
  createdAt: Timestamp,
  /** Where it was sent or made. It goes with this conversation. */
  conversation: Type.Union([Type.Object({ id: Uuid, title: Type.String() }), Type.Null()]),
  /** It was sent nowhere, and goes by itself after this time. Null for everything else, which stays until it is deleted. */
  keptUntil: Type.Union([Timestamp, Type.Null()]),
});
export type RoomFile = Static<typeof RoomFile>;

const byId = Type.Object({ id: Uuid });
const Bytes = Type.Any({ description: "The bytes of the file, with its content type. Ranges are supported" });

export const fileRoutes = {
  "POST /api/files": {
    summary:
      "Upload an attachment: the body is a PNG, JPEG, WebP or GIF, a PDF, or text in UTF-8. Its content decides, not its name or type. " +
      "It goes 7 days later unless it is sent",
    querystring: Type.Object({ name: Type.String({ maxLength: 1_000 }) }, { additionalProperties: false }),
    response: { 201: FileInfo },
  },
  "POST /api/recordings": {
    summary:
      "Upload a recording that a model is to write down: MP3, WAV, M4A, AAC, WebM or Ogg, at most 25 MB. Its length, by which it is priced, is " +
      "measured from its content. It goes 7 days later unless it is sent",
    querystring: Type.Object({ name: Type.String({ maxLength: 1_000 }) }, { additionalProperties: false }),
    response: { 201: FileInfo },
  },
  "GET /api/files": {
    summary: "The person's files of one kind, latest first, and how much all of them take",
    querystring: Type.Object(
      {
        kind: FileKind,
        cursor: Type.Optional(Type.String({ maxLength: 200 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      { additionalProperties: false },
    ),
    response: {
      200: Type.Object({
        files: Type.Array(FileInfo),
        nextCursor: Type.Union([Type.String(), Type.Null()]),
        usedBytes: Type.Integer(),
        /** What the plan includes. Above it nothing is deleted, and nothing can be uploaded. */
        allowedBytes: Type.Integer(),
      }),
    },
  },
  "GET /api/files/room": {
    summary: "All files that count against the person's room, of every category or of one, the newest or the largest first",
    querystring: Type.Object(
      {
        category: Type.Optional(FileCategory),
        order: Type.Optional(Type.Enum([...fileOrders])),
        cursor: Type.Optional(Type.String({ maxLength: 200 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      },
      { additionalProperties: false },
    ),
    response: {
      200: Type.Object({
        files: Type.Array(RoomFile),
        nextCursor: Type.Union([Type.String(), Type.Null()]),
        usedBytes: Type.Integer(),
        allowedBytes: Type.Integer(),
      }),
    },
  },
  "POST /api/files/addresses": {
    summary:
      "Addresses at which this sign-in's browser reads these files without its token, for pictures and players. Each is good for one file, " +
      "for an hour or two, and while the sign-in lasts. Files that are not the person's are left out",
    body: Type.Object({ ids: Type.Array(Uuid, { minItems: 1, maxItems: 100 }) }, { additionalProperties: false }),
    response: {
      200: Type.Object({ addresses: Type.Array(Type.Object({ id: Uuid, address: Type.String(), expiresAt: Timestamp })) }),
    },
  },
  "GET /api/files/:id": { summary: "The bytes of a file", params: byId, response: { 200: Bytes, 206: Bytes } },
  "DELETE /api/files/:id": {
    summary:
      "Delete a file. Nobody can read it any more at once. With `unsent`, only an attachment that no question was sent with, nor is being sent: " +
      "any other file is not found, and stays",
    params: byId,
    querystring: Type.Object({ unsent: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    response: { 204: NoContent },
  },
} as const satisfies Record<string, RouteContract>;
