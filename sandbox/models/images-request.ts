/** Requests for pictures, as JSON or, with pictures to begin from, as a form. */
import sharp from "sharp";
import type { Fields } from "./fields.ts";
import { booleanField, numberField, refuseOthers, wordField } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";
import { countPromptTokens } from "./tokens.ts";

export interface PictureRequest {
  prompt: string;
  count: number;
  width: number;
  height: number;
  size: string;
  quality: "low" | "medium" | "high";
  background: "auto" | "opaque" | "transparent";
  stream: boolean;
  previews: number;
  references: readonly Buffer[];
  mask: Buffer | undefined;
  textTokens: number;
  pictureTokens: number;
}

const known = ["model", "prompt", "n", "size", "quality", "background", "output_format", "stream", "partial_images", "moderation"];
const longestPrompt = 32_000;
const mostReferences = 16;
const referenceBytes = 50 * 1024 * 1024;
const maskBytes = 4 * 1024 * 1024;

function readPrompt({ prompt }: Fields): string {
  if (prompt === undefined) throw invalidRequest("Missing required parameter: 'prompt'.", "prompt", "missing_required_parameter");
  if (typeof prompt !== "string") throw invalidRequest("Invalid type for 'prompt': expected a string.", "prompt", "invalid_type");
  if (prompt === "") throw invalidRequest("Invalid 'prompt': empty string.", "prompt", "empty_string");
  if (prompt.length <= longestPrompt) return prompt;
  throw invalidRequest(
    `Invalid 'prompt': string too long. Expected at most ${longestPrompt} characters.`,
    "prompt",
    "string_above_max_length",
  );
}

function readSize({ size = "auto" }: Fields): { width: number; height: number; size: string } {
  if (size === "auto") return { width: 1024, height: 1024, size: "1024x1024" };
  const [, width = 0, height = 0] = (/^(\d{2,4})x(\d{2,4})$/.exec(String(size)) ?? []).map(Number);
  const right = width % 16 === 0 && height % 16 === 0 && width > 0 && height > 0;
  const ratio = Math.max(width, height) / Math.max(1, Math.min(width, height));
  if (right && ratio <= 3 && width * height >= 655_360 && width * height <= 3840 * 2160) return { width, height, size: String(size) };
  throw invalidRequest(`Invalid value: '${String(size)}'. Width and height are divisible by 16.`, "size", "invalid_value");
}

export function readPictureRequest(
  body: Fields,
  edit: { references: readonly Buffer[]; mask: Buffer | undefined } | undefined,
): PictureRequest {
  refuseOthers(body, edit ? known.filter((name) => name !== "moderation") : known);
  const prompt = readPrompt(body);
  const stream = booleanField(body, "stream");
  const previews = numberField(body, "partial_images", 0, 3, true) ?? 0;
  if (previews > 0 && !stream)
    throw invalidRequest("The 'partial_images' parameter is only allowed when 'stream' is enabled.", "partial_images");
  const count = numberField(body, "n", 1, 10, true) ?? 1;
  if (stream && count > 1) throw invalidRequest("Invalid 'n': the sandbox streams one picture at a time.", "n", "unsupported_value");
  wordField(body, "output_format", ["png"]);
  wordField(body, "moderation", ["auto", "low"]);
  const quality = wordField(body, "quality", ["low", "medium", "high", "auto"]) ?? "auto";
  const { references = [], mask } = edit ?? {};
  return {
    prompt,
    count,
    ...readSize(body),
    quality: quality === "auto" ? "medium" : quality,
    background: wordField(body, "background", ["auto", "opaque", "transparent"]) ?? "auto",
    stream,
    previews,
    references,
    mask,
    textTokens: countPromptTokens([prompt]),
    pictureTokens: references.length * 1_024,
  };
}

const numbers = ["n", "partial_images"];

/** Reads a form: its files, and its text fields in the form that the same fields would have in JSON. */
export async function readForm(bytes: Buffer, contentType: string) {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData().catch(() => {
    throw invalidRequest("Could not parse multipart form.", null);
  });
  const fields: Record<string, unknown> = {};
  const references: Buffer[] = [];
  let mask: Buffer | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") {
      const word = value === "true" || value === "false" ? value === "true" : value;
      fields[name] = numbers.includes(name) ? Number(value) : word;
    } else if (name === "image" || name === "image[]") references.push(Buffer.from(await value.arrayBuffer()));
    else if (name === "mask") mask = Buffer.from(await value.arrayBuffer());
    else throw invalidRequest(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
  }
  await checkFiles(references, mask);
  return { fields, references, mask };
}

async function checkFiles(references: readonly Buffer[], mask: Buffer | undefined): Promise<void> {
  if (references.length === 0) throw invalidRequest("Missing required parameter: 'image'.", "image", "missing_required_parameter");
  if (references.length > mostReferences)
    throw invalidRequest(`Invalid 'image': too many images. Expected at most ${mostReferences}.`, "image", "array_above_max_length");
  const sizes = await Promise.all([...references, ...(mask ? [mask] : [])].map((file) => sharp(file).metadata())).catch(() => {
    throw invalidRequest("Invalid image file or mode. Expected PNG, WebP or JPEG.", "image", "invalid_image_file");
  });
  if (references.some((file) => file.length > referenceBytes))
    throw invalidRequest("Invalid 'image': the file is larger than 50 MB.", "image", "image_too_large");
  if (!mask) return;
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (mask.length > maskBytes || last?.format !== "png")
    throw invalidRequest("Invalid 'mask': expected a PNG file of less than 4 MB.", "mask", "invalid_image_file");
  if (first?.width !== last.width || first?.height !== last.height)
    throw invalidRequest("Invalid 'mask': it has other dimensions than the image.", "mask", "invalid_mask_size");
  if (!last.hasAlpha) throw invalidRequest("Invalid 'mask': it has no alpha channel.", "mask", "invalid_mask");
}
