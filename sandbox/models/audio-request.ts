/** Requests about sound: forms with a recording, and JSON with a text that is to be spoken. Each provider has fields of its own. */
import { measureRecording } from "#domain/audio/length.ts";
import { fileTypeOf, headBytes } from "#domain/files.ts";
import type { Model } from "#domain/models.ts";
import { charactersOf, voicesOf } from "#domain/speech.ts";
import type { Fields } from "./fields.ts";
import { booleanField, numberField, refuseOthers, wordField } from "./fields.ts";
import { invalidRequest, OpenAiError } from "./openai-error.ts";

export interface TranscriptRequest {
  seconds: number;
  stream: boolean;
  /** The transcript has the times of sentences. */
  times: boolean;
  speakers: boolean;
  /** The answer is plain text instead of JSON. */
  plain: boolean;
}

const openAiBytes = 25 * 1024 * 1024;
const openAiTypes = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"];
const repeated = ["timestamp_granularities", "timestamp_granularities[]", "languages[]", "keywords[]", "include[]"];

/** Reads a form: its file, and its text fields in the form that the same fields would have in JSON. */
export async function readAudioForm(bytes: Buffer, contentType: string): Promise<{ fields: Fields; file: File | undefined }> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData().catch(() => {
    throw invalidRequest("Could not parse multipart form.", null);
  });
  const fields: Record<string, unknown> = {};
  let file: File | undefined;
  for (const [name, value] of form) {
    if (typeof value !== "string") {
      if (name !== "file") throw invalidRequest(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
      file = value;
    } else if (repeated.includes(name)) fields[name.replace("[]", "")] = form.getAll(name);
    else fields[name] = value === "true" || value === "false" ? value === "true" : value;
  }
  return { fields, file };
}

async function secondsOf(file: File | undefined): Promise<number> {
  if (!file) throw invalidRequest("Missing required parameter: 'file'.", "file", "missing_required_parameter");
  if (file.size > openAiBytes)
    throw new OpenAiError(413, {
      message: `413: Maximum content size limit (${openAiBytes}) exceeded (${file.size} bytes read)`,
      type: "server_error",
      param: null,
      code: null,
    });
  const ending = file.name.split(".").at(-1)?.toLowerCase() ?? "";
  const bytes = new Uint8Array(await file.arrayBuffer());
  const type = fileTypeOf(bytes.subarray(0, headBytes));
  const measured = measureRecording(type === "image/heic" ? undefined : type, bytes);
  if (!openAiTypes.includes(ending) || typeof measured === "string")
    throw invalidRequest(`Invalid file format. Supported formats: ${JSON.stringify(openAiTypes)}`, "file", "unsupported_value");
  return measured.milliseconds / 1_000;
}

function granularities(fields: Fields, known: readonly string[]): string[] {
  const asked = (fields.timestamp_granularities as string[] | undefined) ?? [];
  for (const each of asked)
    if (!known.includes(each))
      throw invalidRequest(`Invalid value: '${each}'. Supported values: ${known.join(", ")}.`, "timestamp_granularities", "invalid_value");
  return asked;
}

/** GPT Transcribe returns only words, as JSON or text, and can stream them. Whisper can return times, and does not stream. */
async function readOpenAi(fields: Fields, file: File | undefined, model: Model): Promise<TranscriptRequest> {
  const isWhisper = model.upstreamModel.startsWith("whisper");
  const own = isWhisper ? ["timestamp_granularities", "temperature"] : ["languages", "keywords"];
  refuseOthers(fields, ["model", "response_format", "stream", "prompt", "language", ...own]);
  const formats = isWhisper ? (["json", "text", "verbose_json"] as const) : (["json", "text"] as const);
  const format = wordField(fields, "response_format", formats) ?? "json";
  const times = granularities(fields, ["word", "segment"]);
  if (times.length > 0 && format !== "verbose_json")
    throw invalidRequest("response_format must be verbose_json to use timestamp_granularities.", "timestamp_granularities");
  const stream = booleanField(fields, "stream") && !isWhisper;
  return { seconds: await secondsOf(file), stream, times: format === "verbose_json", speakers: false, plain: format === "text" };
}

/** Mistral's current models give times for sentences, not for words. */
async function readMistral(fields: Fields, file: File | undefined): Promise<TranscriptRequest> {
  refuseOthers(fields, ["model", "diarize", "timestamp_granularities", "language", "context_bias", "temperature", "stream"]);
  const times = granularities(fields, ["segment"]).length > 0;
  if (times && fields.language !== undefined)
    throw invalidRequest("timestamp_granularities and language cannot be used together.", "language", "invalid_value");
  if (booleanField(fields, "stream")) throw invalidRequest("The sandbox does not stream this model's transcripts.", "stream");
  return { seconds: await secondsOf(file), stream: false, times, speakers: booleanField(fields, "diarize"), plain: false };
}

export function readTranscriptRequest(fields: Fields, file: File | undefined, model: Model): Promise<TranscriptRequest> {
  return model.provider === "mistral" ? readMistral(fields, file) : readOpenAi(fields, file, model);
}

export interface SpeechRequest {
  text: string;
  voice: string;
}

const openAiCharacters = 4_096;

function wordsOf(fields: Fields, longest: number): string {
  const { input } = fields;
  if (input === undefined) throw invalidRequest("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  if (typeof input !== "string") throw invalidRequest("Invalid type for 'input': expected a string.", "input", "invalid_type");
  if (input.trim() === "") throw invalidRequest("Invalid 'input': empty string.", "input", "empty_string");
  if (charactersOf(input) <= longest) return input;
  throw invalidRequest(`String should have at most ${longest} characters`, "input", "string_above_max_length");
}

/** The sandbox plays only MP3. */
export function readSpeechRequest(fields: Fields, model: Model): SpeechRequest {
  const isMistral = model.provider === "mistral";
  const name = isMistral ? "voice_id" : "voice";
  refuseOthers(fields, ["model", "input", name, "response_format", ...(isMistral ? [] : ["speed", "instructions"])]);
  wordField(fields, "response_format", ["mp3"]);
  if (!isMistral) numberField(fields, "speed", 0.25, 4, false);
  const voice = wordField(
    fields,
    name,
    voicesOf(model).map(({ id }) => id),
  );
  if (voice === undefined) throw invalidRequest(`Missing required parameter: '${name}'.`, name, "missing_required_parameter");
  return { text: wordsOf(fields, openAiCharacters), voice };
}
