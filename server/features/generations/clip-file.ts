/** Whether the bytes that pass are a whole MP4 file (ISO/IEC 14496-12), and how large and long its picture is. Nothing is decoded. */
import { ModelOutage } from "../../providers/models/protocol.ts";

/** The index of a clip of seconds has some kilobytes. */
const indexBytes = 4 * 1024 * 1024;
const longHeader = 16;

export interface ClipMeasures {
  width: number;
  height: number;
  durationMs: number;
}

interface Box {
  type: string;
  /** Without its header. */
  content: Buffer;
}

function garbage(message: string): ModelOutage {
  return new ModelOutage("provider_garbage", message);
}

function boxesOf(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length) throw garbage("the index of a clip is broken");
    boxes.push({ type: bytes.toString("latin1", at + 4, at + 8), content: bytes.subarray(at + 8, at + size) });
    at += size;
  }
  return boxes;
}

function find(bytes: Buffer, ...path: string[]): Buffer | undefined {
  return path.reduce<Buffer | undefined>((within, type) => within && boxesOf(within).find((box) => box.type === type)?.content, bytes);
}

/** The movie's header has 32-bit times in its version 0, and 64-bit times in its version 1. */
function durationOf(index: Buffer): number {
  const head = find(index, "mvhd");
  if (!head || head.length < 32) throw garbage("a clip has no length");
  const isLong = head[0] === 1;
  const ticksPerSecond = head.readUInt32BE(isLong ? 20 : 12);
  const ticks = isLong ? Number(head.readBigUInt64BE(24)) : head.readUInt32BE(16);
  return ticksPerSecond === 0 ? 0 : Math.round((ticks / ticksPerSecond) * 1_000);
}

function readIndex(index: Buffer): ClipMeasures {
  const durationMs = durationOf(index);
  for (const { type, content } of boxesOf(index)) {
    if (type !== "trak" || find(content, "mdia", "hdlr")?.toString("latin1", 8, 12) !== "vide") continue;
    const head = find(content, "tkhd");
    if (!head || head.length < 84) break;
    // Its last two fields, in 1/65536 of a pixel.
    const [width, height] = [head.readUInt32BE(head.length - 8) >>> 16, head.readUInt32BE(head.length - 4) >>> 16];
    if (width > 0 && height > 0 && durationMs > 0) return { width, height, durationMs };
  }
  throw garbage("a clip has no picture");
}

/** Follows the boxes of a file, and keeps only its index. */
export class ClipCheck {
  /** What is left of the box that we are in; undefined within a header. */
  private left: number | undefined;
  private header = Buffer.alloc(0);
  private type = "";
  private readonly seen: string[] = [];
  private index: Buffer[] = [];
  /** The last box may say that it reaches to the end of the file. */
  private openEnded = false;

  /** Passes the bytes on unchanged. Throws a ModelOutage as soon as they can't be a clip. */
  async *pass(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      this.take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      yield chunk;
    }
  }

  /** After the last byte. Throws a ModelOutage if they are not a whole clip. */
  finish(): ClipMeasures {
    const isWhole = this.openEnded || (this.left === undefined && this.header.length === 0);
    if (!isWhole || !this.seen.includes("moov") || !this.seen.includes("mdat")) throw garbage("half a clip");
    return readIndex(Buffer.concat(this.index));
  }

  private take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.left === undefined) {
        const used = this.readHeader(chunk.subarray(at));
        at += used;
        continue;
      }
      const part = chunk.subarray(at, Math.min(chunk.length, at + this.left));
      if (this.type === "moov") this.index.push(Buffer.from(part));
      at += part.length;
      this.left -= part.length;
      if (this.left === 0) this.left = undefined;
    }
  }

  /** Returns how many bytes of the chunk belong to the header. */
  private readHeader(chunk: Buffer): number {
    const before = this.header.length;
    const all = Buffer.concat([this.header, chunk.subarray(0, longHeader - before)]);
    const length = all.length >= 8 && all.readUInt32BE(0) === 1 ? longHeader : 8;
    if (all.length < length) {
      this.header = all;
      return all.length - before;
    }
    this.header = Buffer.alloc(0);
    this.enter(all, length);
    return length - before;
  }

  private enter(header: Buffer, length: number): void {
    this.type = header.toString("latin1", 4, 8);
    if (this.seen.length === 0 && this.type !== "ftyp") throw garbage("the file of a clip is no MP4");
    if (this.seen.length > 1_000) throw garbage("the file of a clip is in too many pieces");
    this.seen.push(this.type);
    const told = header.readUInt32BE(0);
    this.openEnded = told === 0;
    const size = length === longHeader ? Number(header.readBigUInt64BE(8)) : told;
    if (!this.openEnded && size < length) throw garbage("the file of a clip is broken");
    if (this.type === "moov" && (this.openEnded || size > indexBytes)) throw garbage("the index of a clip is too long");
    this.left = this.openEnded ? Number.MAX_SAFE_INTEGER : size - length;
    if (this.left === 0) this.left = undefined;
  }
}
