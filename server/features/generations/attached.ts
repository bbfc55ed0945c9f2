/** Files of questions: what of them a model reads is decided when they are sent, and read from the storage when the model is asked. */
import { buffer } from "node:stream/consumers";
import type { Attachable } from "#domain/attachments.ts";
import { readAttachments, seesPictures, takesPdf, tokensOfReading } from "#domain/attachments.ts";
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

/** Providers take requests of about 30 MB, and base64 makes four bytes of three. What the latest questions have goes first. */
const mostBytes = 15_000_000;

export function toAttachedFile({ reading: { as, pages, cut }, ...file }: Attachment): AttachedFile {
  return { ...file, reading: { as, pages, cut } };
}

export const tokensOf = (attachments: readonly Attachment[]) => attachments.reduce((sum, { reading }) => sum + tokensOfReading(reading), 0);

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

/** Cut at a character: what is decoded as a stream leaves out one that is not complete. */
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

/** Loads what one call needs, and no more than a provider takes. */
class Loader {
  private readonly deps: LoadDeps;
  private readonly userId: string;
  private readonly model: Model;
  private readonly texts: ReadonlyMap<string, string>;
  private left = mostBytes;

  constructor(deps: LoadDeps, userId: string, model: Model, texts: ReadonlyMap<string, string>) {
    this.deps = deps;
    this.userId = userId;
    this.model = model;
    this.texts = texts;
  }

  async part(file: Attachment): Promise<InputPart> {
    const { reading, contentType, fileId } = file;
    if (reading.as === "sound") return noteOn(file, "a recording, which this model can't hear");
    if (reading.as === "picture" && !seesPictures(this.model)) return noteOn(file, "a picture, which this model can't see");
    if (reading.as === "picture" || (reading.as === "pages" && takesPdf(this.model))) {
      const data = await this.bytes(file);
      if (typeof data === "string") return noteOn(file, data);
      const encoded = data.toString("base64");
      if (reading.as === "pages") return { type: "pdf", name: file.name, data: encoded };
      return { type: "picture", mediaType: contentType, data: encoded };
    }
    const text = this.texts.get(fileId);
    return text === undefined ? noteOn(file, "it was deleted") : documentPart(file, text);
  }

  private async bytes({ fileId, bytes }: Attachment): Promise<Buffer | string> {
    if (bytes > this.left) return "left out, since too many files came before";
    this.left -= bytes;
    try {
      return await buffer((await openFile(this.deps, this.userId, fileId)).content);
    } catch (error) {
      if (error instanceof DomainError) return "it was deleted";
      throw error;
    }
  }
}

/** The messages as a model gets them: the files of a question, and the pictures made before it, stand before its words. */
export async function loadMessages(
  deps: LoadDeps,
  userId: string,
  model: Model,
  messages: readonly ChatMessage[],
): Promise<readonly ModelMessage[]> {
  const documents = messages.flatMap(({ attachments = [] }) =>
    attachments.filter(({ reading }) => reading.as !== "picture" && reading.as !== "sound"),
  );
  const texts = await readTexts(
    deps.db,
    userId,
    documents.map(({ fileId }) => fileId),
  );
  const loader = new Loader(deps, userId, model, texts);
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
