/** Requests for clips, as xAI takes them. */
import sharp from "sharp";
import type { Fields } from "./fields.ts";
import { isFields, numberField, refuseOthers, wordField } from "./fields.ts";
import { invalidRequest } from "./openai-error.ts";

export interface ClipRequest {
  prompt: string;
  seconds: number;
  width: number;
  height: number;
  /** The first picture, in the clip's width and height: red, green and blue of each pixel. */
  first: Uint8Array | undefined;
}

const longestPrompt = 8_000;
const usualSeconds = 6;
const pictureBytes = 20 * 1024 * 1024;
const resolutions = ["480p", "720p", "1080p"] as const;
const shapes = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3"] as const;
/** Width and height of a film are multiples of this. */
const block = 16;

const toBlocks = (pixels: number) => Math.max(block, Math.round(pixels / block) * block);

function sizeOf(width: number, height: number, lines: number): { width: number; height: number } {
  const scale = lines / Math.min(width, height);
  return { width: toBlocks(width * scale), height: toBlocks(height * scale) };
}

function readPrompt({ prompt }: Fields): string {
  if (typeof prompt !== "string" || prompt.trim() === "") throw invalidRequest("prompt: expected a text.", "prompt");
  if ([...prompt].length > longestPrompt) throw invalidRequest(`prompt: longer than ${longestPrompt} characters.`, "prompt");
  return prompt;
}

function readImage({ image }: Fields): Buffer | undefined {
  if (image === undefined) return undefined;
  if (!isFields(image)) throw invalidRequest("image: expected an object with a url.", "image");
  refuseOthers(image, ["url"], "image.");
  const [, base64 = ""] = /^data:image\/(?:png|jpeg|webp);base64,([A-Za-z0-9+/=]+)$/.exec(String(image.url)) ?? [];
  if (base64 === "") throw invalidRequest("image.url: the sandbox takes data URLs of PNG, JPEG and WebP.", "image.url");
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > pictureBytes) throw invalidRequest("image.url: the picture is larger than 20 MB.", "image.url");
  return bytes;
}

/** Throws an OpenAiError (400) that names the invalid parameter. */
export async function readClipRequest(body: Fields): Promise<ClipRequest> {
  refuseOthers(body, ["model", "prompt", "duration", "aspect_ratio", "resolution", "image"]);
  const prompt = readPrompt(body);
  const seconds = numberField(body, "duration", 1, 15, true) ?? usualSeconds;
  const shape = wordField(body, "aspect_ratio", shapes);
  const lines = Number.parseInt(wordField(body, "resolution", resolutions) ?? "480p", 10);
  const image = readImage(body);
  if (!image) {
    const [wide = 16, high = 9] = (shape ?? "16:9").split(":").map(Number);
    return { prompt, seconds, ...sizeOf(wide, high, lines), first: undefined };
  }
  const metadata = await sharp(image)
    .metadata()
    .catch(() => {
      throw invalidRequest("image.url: the picture can't be read.", "image.url");
    });
  const [wide = metadata.width, high = metadata.height] = shape?.split(":").map(Number) ?? [];
  const size = sizeOf(wide, high, lines);
  const first = await sharp(image)
    .resize(size.width, size.height, { fit: "fill" })
    .flatten()
    .removeAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer();
  return { prompt, seconds, ...size, first };
}
