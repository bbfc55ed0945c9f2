/** Makes recordings, byte by byte, in the containers that people upload and browsers record into. They contain hardly any sound. */
import { readFileSync } from "node:fs";

const u8 = (...values: number[]) => Buffer.from(values);
const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
function u32Little(value: number): Buffer {
  return u32(value).reverse();
}

/** PCM of 8,000 samples a second, 16 bits. `dataSize`: a false size of the sound for the header. */
export function makeWav(seconds: number, { dataSize, byteRate = 16_000 }: { dataSize?: number; byteRate?: number } = {}): Buffer {
  const data = Buffer.alloc(Math.round(seconds * 8_000) * 2);
  for (let at = 0; at + 2 <= data.length; at += 2) data.writeInt16LE(Math.round(8_000 * Math.sin(at / 9)), at);
  const format = Buffer.concat([u8(1, 0, 1, 0), u32Little(8_000), u32Little(byteRate), u8(2, 0, 16, 0)]);
  return Buffer.concat([
    ...[Buffer.from("RIFF"), u32Little(36 + data.length), Buffer.from("WAVEfmt "), u32Little(16), format],
    ...[Buffer.from("data"), u32Little(dataSize ?? data.length), data],
  ]);
}

const syllables = () => readFileSync(new URL("../../sandbox/models/assets/syllables.mp3", import.meta.url));

/** 4.2 seconds, `times` times. `claimedFrames`: adds a first frame that claims this number of frames. */
export function makeMp3(times: number, { claimedFrames, tag }: { claimedFrames?: number; tag?: Buffer } = {}): Buffer {
  const sound = syllables();
  const index = Buffer.alloc(104);
  sound.copy(index, 0, 0, 4);
  index[2] = (index[2] ?? 0) & ~2;
  Buffer.concat([Buffer.from("Xing"), u32(1), u32(claimedFrames ?? 0)]).copy(index, 13);
  const id3 = tag && Buffer.concat([Buffer.from("ID3"), u8(4, 0, 0, 0, 0, tag.length >> 7, tag.length & 127), tag]);
  return Buffer.concat([...(id3 ? [id3] : []), ...(claimedFrames === undefined ? [] : [index]), ...Array(times).fill(sound)]);
}

export function box(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(body.length + 8), Buffer.from(name), body]);
}

const hertz = 44_100;

interface Mp4 {
  brand?: string;
  handler?: "soun" | "vide";
  /** The packets are in a fragment, as recorders write that don't know how long the recording will be. */
  fragmented?: boolean;
  /** What the header of the film says, in seconds. */
  claimedSeconds?: number;
  /** The duration of a packet according to the tables; the truth is 1,024. */
  ticksOfPacket?: number;
}

/** AAC of 44,100 samples a second in packets of 1,024. */
export function makeMp4(
  seconds: number,
  { brand = "M4A ", handler = "soun", fragmented, claimedSeconds, ticksOfPacket = 1_024 }: Mp4 = {},
): Buffer {
  const packets = Math.round((seconds * hertz) / 1_024);
  const claimed = Math.round((claimedSeconds ?? seconds) * hertz);
  const inTable = fragmented ? 0 : packets;
  // Its decoder's description: AAC-LC, index 4 is 44,100, two channels.
  const esds = box("esds", u32(0), u8(3, 25, 0, 1, 0, 4, 17, 0x40, 0x15, 0, 0, 0), u32(96_000), u32(96_000), u8(5, 2, 0x12, 0x10, 6, 1, 2));
  const mp4a = box("mp4a", Buffer.alloc(6), u16(1), Buffer.alloc(8), u16(2), u16(16), u32(0), u16(hertz), u16(0), esds);
  const stbl = box(
    "stbl",
    box("stsd", u32(0), u32(1), mp4a),
    box("stts", u32(0), u32(inTable > 0 ? 1 : 0), ...(inTable > 0 ? [u32(inTable), u32(ticksOfPacket)] : [])),
    box("stsz", u32(0), u32(4), u32(inTable)),
  );
  const mdia = box(
    "mdia",
    box("mdhd", u32(0), u32(0), u32(0), u32(hertz), u32(claimed), u32(0)),
    box("hdlr", u32(0), u32(0), Buffer.from(handler), Buffer.alloc(13)),
    box("minf", stbl),
  );
  const tkhd = box("tkhd", u32(7), u32(0), u32(0), u32(1), Buffer.alloc(68));
  const trex = box("mvex", box("trex", u32(0), u32(1), u32(1), u32(ticksOfPacket), u32(4), u32(0)));
  const moov = box(
    "moov",
    box("mvhd", u32(0), u32(0), u32(0), u32(hertz), u32(claimed), Buffer.alloc(80)),
    box("trak", tkhd, mdia),
    ...(fragmented ? [trex] : []),
  );
  const moof = box(
    "moof",
    box("mfhd", u32(0), u32(1)),
    box("traf", box("tfhd", u32(0x020000), u32(1)), box("trun", u32(1), u32(packets), u32(0))),
  );
  return Buffer.concat([
    box("ftyp", Buffer.from(brand), u32(0), Buffer.from("isommp42")),
    ...[moov, ...(fragmented ? [moof] : []), box("mdat", Buffer.alloc(packets * 4))],
  ]);
}

function element(id: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([idOf(id), u32(0x10000000 | body.length), body]);
}
/** A recorder writes elements like this: their size is unknown. */
function open(id: number, ...content: Buffer[]): Buffer {
  return Buffer.concat([idOf(id), u8(0x01, 255, 255, 255, 255, 255, 255, 255), ...content]);
}
function idOf(id: number): Buffer {
  return Buffer.from(id.toString(16), "hex");
}

interface Webm {
  /** 1 for a clip. */
  trackType?: 1 | 2;
  /** What the file says of its length, in milliseconds. A recorder says nothing. */
  claimedMs?: number;
  /** Between two blocks, in milliseconds; the truth is 20. */
  stepMs?: number;
}

/** Opus in packets of 20 ms, as Chromium records it: without a length, in clusters without a size. */
export function makeWebm(seconds: number, { trackType = 2, claimedMs, stepMs = 20 }: Webm = {}): Buffer {
  const claimed = Buffer.alloc(8);
  claimed.writeDoubleBE(claimedMs ?? 0);
  const info = element(0x1549a966, element(0x2ad7b1, u32(1_000_000)), ...(claimedMs === undefined ? [] : [element(0x4489, claimed)]));
  const track = element(0xae, element(0xd7, u8(1)), element(0x83, u8(trackType)), element(0x86, Buffer.from("A_OPUS")));
  const clusters: Buffer[] = [];
  for (let first = 0; first < seconds * 50; first += 250) {
    const blocks = Array.from({ length: Math.min(250, Math.round(seconds * 50) - first) }, (_, index) =>
      // 0x78: CELT, 20 ms, one frame.
      element(0xa3, u8(0x81), u16(index * stepMs), u8(0x80), u8(0x78, 1, 2, 3)),
    );
    clusters.push(open(0x1f43b675, element(0xe7, u32(first * stepMs)), ...blocks));
  }
  return Buffer.concat([
    element(0x1a45dfa3, element(0x4282, Buffer.from("webm"))),
    open(0x18538067, info, element(0x1654ae6b, track), ...clusters),
  ]);
}

/** Opus in one page for each second. `claimedSeconds`: where its positions say that it ends. */
export function makeOgg(seconds: number, { claimedSeconds = seconds }: { claimedSeconds?: number } = {}): Buffer {
  const page = (packets: readonly Buffer[], position: number, number: number) => {
    const place = Buffer.alloc(8);
    place.writeBigUInt64LE(BigInt(Math.round(position * 48_000)));
    const head = [Buffer.from("OggS"), u8(0, 0), place, u32(7), u32Little(number), u32(0), u8(packets.length)];
    return Buffer.concat([...head, u8(...packets.map(({ length }) => length)), ...packets]);
  };
  const head = Buffer.concat([Buffer.from("OpusHead"), u8(1, 1, 0, 0), u32Little(48_000), u8(0, 0, 0)]);
  const second = Array(50).fill(u8(0x78, 1, 2));
  const pages = Array.from({ length: seconds }, (_, index) => page(second, ((index + 1) / seconds) * claimedSeconds, index + 2));
  return Buffer.concat([page([head], 0, 0), page([Buffer.from("OpusTags")], 0, 1), ...pages]);
}
