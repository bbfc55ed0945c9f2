/** What is taken for a clip, and from where. */
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { toMp4 } from "#sandbox/models/clip-file.ts";
import { drawFilm } from "#sandbox/models/clip-film.ts";
import { ClipCheck } from "#server/features/generations/clip-file.ts";
import { isFileAddress } from "#server/providers/models/xai-videos.ts";

const film = toMp4(drawFilm({ width: 64, height: 48 }, 4, "The sea"));

async function check(bytes: Buffer, chunk = bytes.length): Promise<object> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, index) => bytes.subarray(index * chunk, (index + 1) * chunk));
  const clip = new ClipCheck();
  for await (const _ of clip.pass(Readable.from(pieces)));
  return clip.finish();
}

/** A box with these bytes. */
function box(type: string, content: Uint8Array = Buffer.alloc(0), told = content.length + 8): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(told);
  return Buffer.concat([size, Buffer.from(type, "latin1"), content]);
}

describe("the file of a clip", () => {
  it.each([1, 7, 4_096, film.length])("is measured, however it arrives (%i bytes at a time)", async (chunk) => {
    expect(await check(film, chunk)).toEqual({ width: 64, height: 48, durationMs: 4_000 });
  });

  it("with a length of 64 bits, and one that reaches to the end of the file, is read", async () => {
    const [head, data] = [film.subarray(0, film.indexOf("mdat") - 4), film.subarray(film.indexOf("mdat") + 4)];
    const long = Buffer.concat([Buffer.from([0, 0, 0, 1]), Buffer.from("mdat"), Buffer.alloc(8), data]);
    long.writeBigUInt64BE(BigInt(long.length), 8);
    expect(await check(Buffer.concat([head, long]), 5)).toMatchObject({ width: 64 });
    expect(await check(Buffer.concat([head, box("mdat", data, 0)]))).toMatchObject({ width: 64 });
  });

  it.each([
    ["half of it", film.subarray(0, film.length / 2)],
    ["all but the last byte", film.subarray(0, film.length - 1)],
    ["nothing", Buffer.alloc(0)],
    ["a page", Buffer.from("<!doctype html><title>Sign in</title>")],
    ["no index", Buffer.concat([box("ftyp", Buffer.from("isom0000")), box("mdat", Buffer.alloc(9))])],
    [
      "an index without a picture",
      Buffer.concat([box("ftyp", Buffer.from("isom0000")), box("moov", box("mvhd", Buffer.alloc(100))), box("mdat")]),
    ],
    [
      "a broken index",
      Buffer.concat([box("ftyp", Buffer.from("isom0000")), box("moov", Buffer.from([255, 255, 255, 255, 1, 2, 3, 4])), box("mdat")]),
    ],
    ["a huge index", Buffer.concat([box("ftyp", Buffer.from("isom0000")), box("moov", Buffer.alloc(0), 2 ** 31)])],
    ["a box that is shorter than its header", Buffer.concat([box("ftyp", Buffer.from("isom0000")), box("free", Buffer.alloc(0), 3)])],
  ])("is refused: %s", async (_name, bytes) => {
    await expect(check(Buffer.from(bytes))).rejects.toMatchObject({ code: "provider_garbage" });
  });
});

describe("the address of a clip", () => {
  const xai = "https://api.x.ai/v1";
  it.each([
    ["https://vidgen.x.ai/bucket/a.mp4", xai, true],
    ["https://api.x.ai/v1/files/a.mp4", xai, true],
    ["http://127.0.0.1:9/xai/files/a.mp4", "http://127.0.0.1:9/xai/v1", true],
    ["http://vidgen.x.ai/a.mp4", xai, false],
    ["https://vidgen.x.ai.example.com/a.mp4", xai, false],
    ["https://evilx.ai/a.mp4", xai, false],
    ["https://vidgen.x.ai@example.com/a.mp4", xai, false],
    ["https://me:secret@vidgen.x.ai/a.mp4", xai, false],
    ["http://169.254.169.254/latest/meta-data", xai, false],
    ["http://127.0.0.1:10/a.mp4", "http://127.0.0.1:9/xai/v1", false],
    ["file:///etc/passwd", xai, false],
    ["/a.mp4", xai, false],
  ])("%s at %s: %s", (url, base, may) => {
    expect(isFileAddress(url, base)).toBe(may);
  });
});
