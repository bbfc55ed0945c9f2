/** Reads pictures and PDFs in a request and counts their tokens. Refuses what the model does not take, and files of a wrong type. */
import { parametersOf } from "#domain/model-parameters.ts";
import type { Model } from "#domain/models.ts";
import type { Fields } from "./fields.ts";
import { isFields } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";

export interface Medium {
  /** How the model's answer describes it. */
  seen: string;
  tokens: number;
}

const largestPicture = 5 * 1024 * 1024;
const pictureTokensMost = 1_600;
const pageTokens = 1_500;

/** Where a part of each type has its data: as a data URL, or with Anthropic as base64 with its type beside it. */
function dataOf(part: Fields): { type: string; base64: string } | undefined {
  const source = isFields(part.source) ? part.source : undefined;
  if (source?.type === "base64") return { type: String(source.media_type), base64: String(source.data) };
  const [image, file] = [part.image_url, part.file];
  const url = isFields(image) ? image.url : isFields(file) ? file.file_data : (image ?? part.file_data);
  const [, type = "", base64 = ""] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(typeof url === "string" ? url : "") ?? [];
  return base64 === "" ? undefined : { type, base64 };
}

/** Width and height of a PNG, a JPEG or a WebP, from its header. */
function sizeOf(type: string, bytes: Buffer): { width: number; height: number } | undefined {
  if (type === "image/png" && bytes.readUInt32BE(0) === 0x89504e47)
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (type !== "image/jpeg" || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    // The start of a frame, but not the tables between them.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return undefined;
}

function readPicture(type: string, bytes: Buffer, param: string): Medium {
  if (bytes.length > largestPicture) throw invalidRequest(`${param}: image exceeds 5 MB maximum`, param, "invalid_image");
  const size = bytes.length > 24 ? sizeOf(type, bytes) : undefined;
  if (!size) throw invalidRequest(`${param}: Image does not match the provided media type ${type}`, param, "invalid_image");
  const tokens = Math.min(Math.ceil((size.width * size.height) / 750), pictureTokensMost);
  return { seen: `a picture of ${size.width} × ${size.height} pixels`, tokens };
}

function readPdf(bytes: Buffer, param: string): Medium {
  const text = bytes.toString("latin1");
  if (!text.startsWith("%PDF-")) throw invalidRequest(`${param}: The PDF specified was not valid.`, param, "invalid_file");
  const pages = Math.max(text.match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0, 1);
  return { seen: `a PDF of ${pages} ${pages === 1 ? "page" : "pages"}`, tokens: pages * pageTokens };
}

const types = { image_url: "picture", input_image: "picture", image: "picture", file: "pdf", input_file: "pdf", document: "pdf" } as const;

/** Undefined if the part is text. */
export function readMedium(part: Fields, model: Model, param: string): Medium | undefined {
  const kind = types[String(part.type) as keyof typeof types];
  if (!kind) return undefined;
  if (!parametersOf(model).inputs?.includes(kind))
    throw invalidRequest(`Invalid content type. ${part.type} is only supported by certain models.`, param, "invalid_value");
  const data = dataOf(part);
  if (!data) throw invalidRequest(`Invalid '${param}': expected a base64-encoded data URL.`, param, "invalid_value");
  const bytes = Buffer.from(data.base64, "base64");
  return kind === "pdf" ? readPdf(bytes, param) : readPicture(data.type, bytes, param);
}
