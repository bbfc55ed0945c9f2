/** The length of a recording, by which it is priced, is that of its sound, whatever its headers say; and telling it takes little time. */
import { describe, expect, test } from "vitest";
import { measureRecording } from "#domain/audio/length.ts";
import { joinMp3 } from "#domain/audio/mp3.ts";
import { fileTypeOf, headBytes } from "#domain/files.ts";
import { box, makeMp3, makeMp4, makeOgg, makeWav, makeWebm } from "#tests/support/make-audio.ts";

function measure(bytes: Buffer) {
  const type = fileTypeOf(bytes.subarray(0, headBytes));
  return measureRecording(type === "image/heic" ? undefined : type, bytes);
}

function secondsOf(bytes: Buffer): number | string {
  const recording = measure(bytes);
  return typeof recording === "string" ? recording : recording.milliseconds / 1_000;
}

const once = 162 * (576 / 22_050);
const garbage = Buffer.from(Array.from({ length: 40_000 }, (_, index) => (index * 7_919) % 251));

test.each([
  ["an MP3", makeMp3(2), 2 * once],
  ["an MP3 whose index says that it is an hour", makeMp3(2, { claimedFrames: 137_000 }), 2 * once + 0.026],
  ["an MP3 whose index says that it is nothing", makeMp3(5, { claimedFrames: 1 }), 5 * once + 0.026],
  ["an MP3 with a tag, a picture in it and garbage behind", Buffer.concat([makeMp3(1, { tag: Buffer.alloc(9_000, 0xff) }), garbage]), once],
  ["an MP3 with a tag that is a web page", makeMp3(1, { tag: Buffer.from("<html><script>alert(1)</script>") }), once],
  ["a WAV", makeWav(3.5), 3.5],
  ["a WAV that leaves its size open", makeWav(3, { dataSize: 0 }), 3],
  ["a WAV whose size is as large as can be", makeWav(3, { dataSize: 0xffffffff }), 3],
  ["a WAV that says too little of its sound", makeWav(3, { dataSize: 2_000 }), 3],
  ["a WAV with a rate that is not that of its samples", makeWav(3, { byteRate: 4_000_000 }), 3],
  ["an M4A", makeMp4(7), 7],
  ["an MP4 of a recorder, without a length", makeMp4(7, { brand: "iso5", fragmented: true, claimedSeconds: 0 }), 7],
  ["an M4A whose header says that it is a second", makeMp4(90, { claimedSeconds: 1 }), 90],
  ["an M4A whose tables say that a packet lasts no time", makeMp4(90, { ticksOfPacket: 1 }), 90],
  ["fragments that say so", makeMp4(90, { ticksOfPacket: 0, fragmented: true }), 90],
  ["a WebM of a recorder, without a length", makeWebm(12), 12],
  ["a WebM that says that it is a second", makeWebm(12, { claimedMs: 1_000 }), 12],
  ["a WebM whose blocks say that they are at the same time", makeWebm(12, { stepMs: 0 }), 12],
  ["an Ogg", makeOgg(4), 4],
  ["an Ogg that says that it is nothing", makeOgg(40, { claimedSeconds: 0 }), 40],
])("of %s is that of its sound", (_what, bytes, seconds) => {
  expect(secondsOf(bytes)).toBeCloseTo(seconds, 1);
});

test("what a container can hold is named after what is in it", () => {
  expect(measure(makeMp4(1, { brand: "mp42" }))).toMatchObject({ type: "audio/mp4" });
  expect(measure(makeWebm(1))).toMatchObject({ type: "audio/webm" });
});

describe("there is no length", () => {
  test.each([
    ["a clip as MP4", makeMp4(5, { brand: "isom", handler: "vide" }), "moving"],
    ["a clip as WebM", makeWebm(5, { trackType: 1 }), "moving"],
    ["a WAV without sound", makeWav(0), "silent"],
    ["a recording that was stopped at once", makeWebm(0), "silent"],
    ["an MP3 that is a tag alone", makeMp3(0, { tag: Buffer.alloc(100) }), "damaged"],
    ["an MP3 that soon turns into something else", Buffer.concat([makeMp3(1), Buffer.alloc(400_000, 0xfe)]), "damaged"],
    ["the first half of an M4A whose tables are at its end", makeMp4(5).subarray(0, 200), "damaged"],
    ["a picture with the name of a sound", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "unknown"],
    ["nothing", Buffer.alloc(0), "unknown"],
    ["a WebM with something else between its blocks", Buffer.concat([makeWebm(1), Buffer.alloc(9_000)]), "damaged"],
    ["an Ogg with something else between its pages", Buffer.concat([makeOgg(1), Buffer.alloc(9_000), makeOgg(9)]), "damaged"],
  ])("of %s", (_what, bytes, fault) => {
    expect(secondsOf(bytes)).toBe(fault);
  });
});

test("of what was made to be slow there is none: how much is looked at has a bound", () => {
  const deep = Array.from({ length: 2_000 }).reduce<Buffer>((inner) => box("moov", inner), Buffer.alloc(0));
  const many = (piece: Buffer, times: number) => Buffer.concat(Array(times).fill(piece));
  const begun = makeMp4(1).subarray(0, 28);
  const hostile = [
    Buffer.concat([begun, deep]),
    Buffer.concat([begun, many(box("free"), 250_000)]),
    Buffer.concat([Buffer.from("1a45dfa380", "hex"), many(Buffer.from("ec80", "hex"), 1_100_000)]),
    Buffer.concat([Buffer.from("ID3"), Buffer.alloc(1_000_000, 0xff)]),
    many(Buffer.concat([Buffer.from("OggS"), Buffer.alloc(23)]), 410_000),
    Buffer.concat([makeWav(0).subarray(0, 36), many(Buffer.concat([Buffer.from("LIST"), Buffer.alloc(4)]), 20_000)]),
  ];
  expect(hostile.map(secondsOf)).toEqual(hostile.map(() => "damaged"));
});

test("files put behind each other are as long as together, and one that is not whole is noticed", () => {
  const joined = joinMp3([makeMp3(1, { claimedFrames: 7, tag: Buffer.alloc(50) }), makeMp3(2)]);
  expect(secondsOf(Buffer.from(joined ?? []))).toBeCloseTo(3 * once, 2);
  expect(joinMp3([makeMp3(1), makeMp3(1).subarray(0, -50)])).toBeUndefined();
  expect(joinMp3([Buffer.from("no sound")])).toBeUndefined();
});
