/** Reads a zip file whole, by its central directory (APPNOTE 4.3). Only what our exports use: stored or deflated, no zip64. */
import { inflateRawSync } from "node:zlib";

export function readZipBytes(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const content = archive.subarray(begin, begin + archive.readUInt32LE(at + 20));
    files.set(name, archive.readUInt16LE(at + 10) === 8 ? inflateRawSync(content) : content);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
}

export function readZip(archive: Buffer): Map<string, string> {
  return new Map([...readZipBytes(archive)].map(([name, bytes]) => [name, bytes.toString("utf8")]));
}
