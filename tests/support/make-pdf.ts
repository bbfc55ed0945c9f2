/** Makes small PDFs (ISO 32000-1): a page for each text, or for content that is packed already. */
import { constants, deflateRawSync, deflateSync } from "node:zlib";

const bytesOf = (text: string) => Buffer.from(text, "latin1");

/** Content that is packed already (zlib, RFC 1950). */
export interface Packed {
  packed: Buffer;
}

/** Unpacks to `megabytes` of spaces. It is never unpacked here, so it has no checksum. */
export function packedSpaces(megabytes: number): Packed {
  const megabyte = deflateRawSync(Buffer.alloc(1_000_000, " "), { finishFlush: constants.Z_FULL_FLUSH });
  const header = Buffer.from([0x78, 0x9c]);
  return { packed: Buffer.concat([header, ...Array.from({ length: megabytes }, () => megabyte), deflateRawSync("")]) };
}

/** `trailer` goes into the trailer, for example to say that the file is encrypted. */
export function makePdf(pages: readonly (string | Packed)[], trailer = ""): Buffer {
  const objects: Buffer[] = [bytesOf("<< /Type /Catalog /Pages 2 0 R >>"), Buffer.alloc(0)];
  const add = (object: Buffer) => objects.push(object);
  const font = add(bytesOf("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"));
  const numbers = pages.map((page) => {
    const drawn = (text: string) => bytesOf(text === "" ? "" : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`);
    const packed = typeof page === "string" ? deflateSync(drawn(page)) : page.packed;
    const content = add(
      Buffer.concat([bytesOf(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`), packed, bytesOf("\nendstream")]),
    );
    const resources = `<< /Font << /F1 ${font} 0 R >> >>`;
    return add(bytesOf(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources ${resources} >>`));
  });
  objects[1] = bytesOf(`<< /Type /Pages /Kids [${numbers.map((number) => `${number} 0 R`).join(" ")}] /Count ${numbers.length} >>`);
  const parts = [bytesOf("%PDF-1.7\n")];
  const starts: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    const written = Buffer.concat([bytesOf(`${index + 1} 0 obj\n`), object, bytesOf("\nendobj\n")]);
    starts.push(length);
    length += written.length;
    parts.push(written);
  }
  const table = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    bytesOf(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}
