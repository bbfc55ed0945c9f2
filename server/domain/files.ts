/** What may be stored as a person's file, and how each kind of content is told from its first bytes. */

/** The only types that we serve. Browsers show and play the first ones; the others are downloaded. */
export const shownTypes = [
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "audio/mpeg",
  "audio/wav",
  "audio/ogg",
  "audio/mp4",
  "audio/aac",
  "audio/flac",
  "audio/webm",
  "video/mp4",
  "video/webm",
] as const;
const downloadedTypes = ["application/pdf", "text/plain"] as const;
export type FileType = (typeof shownTypes)[number] | (typeof downloadedTypes)[number];

/** This many bytes from the start of a file decide its type. */
export const headBytes = 4_096;

export const fileLimits = {
  /** The limit for one attachment, as it is uploaded. */
  megabytes: 10,
  /** The limit for an attached picture: width × height, in millions. */
  megapixels: 40,
  /** The longer side of an attached picture as it is kept, and its pixels. Models reduce larger ones. */
  pictureSide: 1_568,
  keptPixels: 1_600_000,
  /** The limit for what a model made. */
  outputMegabytes: 256,
  nameLength: 200,
} as const;
export const attachmentBytes = fileLimits.megabytes * 1024 * 1024;

const latin1 = (head: Uint8Array, from: number, length: number) =>
  String.fromCharCode(...head.subarray(from, Math.min(from + length, head.length)));

function isoBaseMedia(brand: string): FileType | "image/heic" | undefined {
  if (/^(hei[cxms]|hev[cxms]|mif1|msf1|avi[fs])$/.test(brand)) return "image/heic";
  if (/^(M4A |M4B |M4P )$/.test(brand)) return "audio/mp4";
  return /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|qt {2})$/.test(brand) ? "video/mp4" : undefined;
}

/** UTF-8 without control characters other than those of plain text. The end may be within a character. */
function isText(head: Uint8Array): boolean {
  if (head.some((byte) => (byte < 32 && ![9, 10, 12, 13, 27].includes(byte)) || byte === 127)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** What starts a file says what it is; its name and what a browser says of it may be wrong. */
const signatures: readonly [at: number, signature: string, type: FileType][] = [
  [0, "\x89PNG\r\n\x1a\n", "image/png"],
  [0, "\xff\xd8\xff", "image/jpeg"],
  [0, "GIF87a", "image/gif"],
  [0, "GIF89a", "image/gif"],
  [0, "%PDF-", "application/pdf"],
  [0, "ID3", "audio/mpeg"],
  [0, "OggS", "audio/ogg"],
  [0, "fLaC", "audio/flac"],
  [0, "\x1aE\xdf\xa3", "video/webm"],
];

/** By the content; undefined if we don't know it. `image/heic`, in which phones take pictures, is recognised but not kept. */
export function fileTypeOf(head: Uint8Array): FileType | "image/heic" | undefined {
  if (head.length === 0) return undefined;
  const found = signatures.find(([at, signature]) => latin1(head, at, signature.length) === signature);
  if (found) return found[2];
  const container = latin1(head, 0, 4) === "RIFF" ? latin1(head, 8, 4) : "";
  if (container === "WEBP") return "image/webp";
  if (container === "WAVE") return "audio/wav";
  if (latin1(head, 4, 4) === "ftyp") return isoBaseMedia(latin1(head, 8, 4));
  const [first = 0, second = 0] = head;
  // The synchronisation word of MPEG audio, with layer 0 for AAC (ADTS) and 1 to 3 for MPEG's own layers.
  if (first === 0xff && (second & 0xe0) === 0xe0) {
    if ((second & 0xf6) === 0xf0) return "audio/aac";
    return (second & 0x06) === 0 ? undefined : "audio/mpeg";
  }
  return isText(head) ? "text/plain" : undefined;
}

const extensions: Readonly<Record<FileType, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/ogg": "ogg",
  "audio/mp4": "m4a",
  "audio/aac": "aac",
  "audio/flac": "flac",
  "audio/webm": "webm",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "application/pdf": "pdf",
  "text/plain": "txt",
};

/**
 * The name under which a file is shown and downloaded: without folders and without characters that turn or hide the text around them, and with
 * the ending of its content. Text keeps its ending, unless a computer would run it.
 */
export function tidyFileName(name: string, type: FileType): string {
  const own = [...(name.normalize("NFC").split(/[/\\]/).at(-1) ?? "")]
    .filter((character) => !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}<>:"|?*]/u.test(character))
    .join("")
    .replace(/\s+/g, " ")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  const dot = own.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [own.slice(0, dot), own.slice(dot + 1).toLowerCase()] : [own, ""];
  const keepsEnding =
    type === "text/plain" && /^(txt|md|csv|tsv|json|ya?ml|xml|log|tex|py|ts|tsx|css|sql|c|h|cpp|java|go|rs|rb)$/.test(ending);
  const last = keepsEnding || (type === "image/jpeg" && ending === "jpeg") ? ending : extensions[type];
  const room = fileLimits.nameLength - last.length - 1;
  return `${[...stem].slice(0, room).join("").trim() || "file"}.${last}`;
}
