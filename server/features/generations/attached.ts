/** Files of questions: what of them a model reads is decided when they are sent, and read from the storage when the model is asked. */
import { addAbortSignal } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Attachable } from "#domain/attachments.ts";
import { attachmentLimits, goesAsItIs, readAttachments, seesPictures, tokensOfReading } from "#domain/attachments.ts";
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { countTokens } from "#domain/tokens.ts";
import type { AttachedFile } from "../../contract/generations/generations.ts";
import type { Executor } from "../../db/transaction.ts";
import type { Attachment } from "../../db/types-answers.ts";
import type { Deps } from "../../deps.ts";
import type { InputPart, ModelMessage } from "../../providers/models/protocol.ts";
import { findAttachable, openFile, readTexts } from "../files/service.ts";
import type { ChatMessage } from "./history.ts";

export function toAttachedFile({ reading: { as, pages, cut }, ...file }: Attachment): AttachedFile {
  return { ...file, reading: { as, pages, cut } };
}

export const tokensOf = (attachments: readonly Attachment[]) => attachments.reduce((sum, { reading }) => sum + tokensOfReading(reading), 0);

/** How many bytes of files go to the model with these messages as they are. */
export function sentBytes(model: Model, messages: readonly Pick<ChatMessage, "attachments" | "pictures">[]): number {
  return messages
    .flatMap(({ attachments = [], pictures = [] }) => [...attachments, ...pictures])
    .reduce((sum, { bytes, reading }) => sum + (goesAsItIs(model, reading) ? bytes : 0), 0);
}

type Question = Omit<ChatMessage, "role">;

/** The bytes that are left for files that go as they are. */
class ByteRoom {
  private left: number = attachmentLimits.sentBytes;
  private readonly model: Model;

  constructor(model: Model) {
    this.model = model;
  }

  /** The file as it is sent. A PDF that has no room is sent as its text. Undefined if a picture, or a PDF without text, has no room. */
  private readonly take = (file: Attachment): Attachment | undefined => {
    const { bytes, reading } = file;
    if (!goesAsItIs(this.model, reading)) return file;
    if (bytes > this.left) return reading.textBytes === 0 ? undefined : { ...file, reading: { ...reading, as: "text" } };
    this.left -= bytes;
    return file;
  };

  /** Undefined if one of its own files has no room. Pictures that were made before it are sent as far as there is room. */
  message<Message extends Question>(message: Message): Message | undefined {
    const { attachments, pictures } = message;
    const taken = attachments?.flatMap((file) => this.take(file) ?? []);
    if (taken && taken.length < (attachments?.length ?? 0)) return undefined;
    const seen = pictures?.flatMap((file) => this.take(file) ?? []);
    return { ...message, ...(taken && { attachments: taken }), ...(seen && { pictures: seen }) };
  }
}

/** Leaves out the oldest messages whose files make the request larger than providers take. What the latest questions have goes first. */
export function withinBytes(model: Model, messages: readonly ChatMessage[], question: Question) {
  const room = new ByteRoom(model);
  const asked = room.message(question) ?? question;
  const kept: ChatMessage[] = [];
  for (const message of messages.toReversed()) {
    const fitting = room.message(message);
    if (!fitting) break;
    kept.unshift(fitting);
  }
  return { messages: kept, question: asked };
}

interface Sent {
  userId: string;
  conversationId: string | undefined;
  prompt: string;
  ids: readonly string[];
}

/** What the model will read of the files. Returns the refusal if one is gone, or the model can't read it, or has no room for it. */
export async function planAttachments(
  executor: Executor,
  model: Model,
  { userId, conversationId, prompt, ids }: Sent,
): Promise<Attachment[] | DomainError> {
  const found = await findAttachable(executor, userId, conversationId, ids);
  const files = ids.flatMap((id) => found.get(id.toLowerCase()) ?? []);
  if (files.length < ids.length) return new DomainError("attachment_gone", "An attached file is not there any more. Attach it again");
  const readings = readAttachments(model, countTokens(prompt), files satisfies readonly Attachable[]);
  const planned: Attachment[] = [];
  for (const [index, { id, name, contentType, bytes, width, height, pages, durationMs }] of files.entries()) {
    const reading = readings[index];
    if (reading === "too_large") return new DomainError("attachments_too_large", `${model.name} has no room for ${name}`);
    if (typeof reading !== "object") return new DomainError("attachment_unreadable", `${model.name} can't read ${name}`);
    const file = { fileId: id, name, contentType, bytes, width, height, pages };
    planned.push({ ...file, ...(durationMs !== null && { durationMs }), reading });
  }
  return planned;
}

/** Cut between characters: decoding as a stream leaves out a last one that is not complete. */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder("utf-8").decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

function noteOn({ name }: Attachment, what: string): InputPart {
  return { type: "text", text: `[Attached file ${JSON.stringify(name)}: ${what}]` };
}

function documentPart({ name, pages, reading }: Attachment, text: string): InputPart {
  const part = reading.cut ? (reading.pages === null ? ", its beginning" : `, pages 1 to ${reading.pages} of ${pages}`) : "";
  const words = firstBytes(text, reading.textBytes).trimEnd();
  return { type: "text", text: `[Attached file ${JSON.stringify(name)}${part}]\n${words}\n[End of the attached file]` };
}

type LoadDeps = Pick<Deps, "db" | "storage">;

/** Loads what one call needs. */
class Loader {
  private readonly deps: LoadDeps;
  private readonly userId: string;
  private readonly model: Model;
  private readonly texts: ReadonlyMap<string, string>;
  private readonly signal: AbortSignal;

  constructor(deps: LoadDeps, userId: string, model: Model, texts: ReadonlyMap<string, string>, signal: AbortSignal) {
    this.deps = deps;
    this.userId = userId;
    this.model = model;
    this.texts = texts;
    this.signal = signal;
  }

  async part(file: Attachment): Promise<InputPart> {
    const { reading, contentType, fileId } = file;
    if (reading.as === "sound") return noteOn(file, "a recording, which this model can't hear");
    if (reading.as === "picture" && !seesPictures(this.model)) return noteOn(file, "a picture, which this model can't see");
    if (goesAsItIs(this.model, reading)) {
      const data = await this.bytes(file);
      if (typeof data === "string") return noteOn(file, data);
      const encoded = data.toString("base64");
      if (reading.as === "pages") return { type: "pdf", name: file.name, data: encoded };
      return { type: "picture", mediaType: contentType, data: encoded };
    }
    const text = this.texts.get(fileId);
    return text === undefined ? noteOn(file, "it was deleted") : documentPart(file, text);
  }

  private async bytes({ fileId }: Attachment): Promise<Buffer | string> {
    this.signal.throwIfAborted();
    try {
      const { content } = await openFile(this.deps, this.userId, fileId);
      return await buffer(addAbortSignal(this.signal, content));
    } catch (error) {
      if (error instanceof DomainError) return "it was deleted";
      throw error;
    }
  }
}

/**
 * The messages as a model gets them: the files of a question, and the pictures made before it, stand before its words. Throws if the storage
 * can't be read, or the signal is aborted.
 */
export async function loadMessages(
  deps: LoadDeps,
  userId: string,
  model: Model,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<readonly ModelMessage[]> {
  const documents = messages.flatMap(({ attachments = [] }) =>
    attachments.filter(({ reading }) => reading.as !== "picture" && reading.as !== "sound"),
  );
  const texts = await readTexts(
    deps.db,
    userId,
    documents.map(({ fileId }) => fileId),
  );
  const loader = new Loader(deps, userId, model, texts, signal);
  const loaded: ModelMessage[] = [];
  for (const { role, content, attachments = [], pictures = [] } of messages.toReversed()) {
    const parts: InputPart[] = [];
    for (const file of attachments) parts.push(await loader.part(file));
    const seen: InputPart[] = [];
    for (const file of pictures) seen.push(await loader.part(file));
    if (seen.length > 0) parts.unshift({ type: "text", text: "[What the answer before looks like:]" }, ...seen);
    loaded.unshift({ role, parts: [...parts, { type: "text", text: content }] });
  }
  return loaded;
}
