/** Writes a page of text as a PDF 1.4 in Helvetica, which every reader of PDFs has. */

export interface PdfText {
  text: string;
  /** In points, from the left edge and from the top. */
  x: number;
  y: number;
  size: number;
  bold?: boolean;
  /** `x` is then where the text ends. For amounts only: their characters are the ones whose widths are known here. */
  right?: boolean;
}

/** A hairline across the page, at this distance from the top. */
export interface PdfRule {
  rule: number;
}

const width = 595;
const height = 842;
const margin = 56;

/** Where WinAnsiEncoding differs from Latin-1, of what the invoices say. */
const special = new Map([
  ["€", 0x80],
  ["…", 0x85],
  ["‘", 0x91],
  ["’", 0x92],
  ["“", 0x93],
  ["”", 0x94],
  ["•", 0x95],
  ["–", 0x96],
  ["—", 0x97],
]);

/** A PDF string in hexadecimal. What Helvetica does not have becomes a question mark. */
function encoded(text: string): string {
  const codes = [...text].map((character) => {
    const code = special.get(character) ?? character.codePointAt(0) ?? 0x3f;
    const known = special.has(character) || (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
    return known ? code : 0x3f;
  });
  return `<${Buffer.from(codes).toString("hex")}>`;
}

/** Helvetica's widths, in thousandths of the size, of the characters of an amount. Others count as digits. */
const narrow: Readonly<Record<string, number>> = { ".": 278, ",": 278, " ": 278, "-": 333, "(": 333, ")": 333 };

function widthOf(text: string, size: number): number {
  return ([...text].reduce((sum, character) => sum + (narrow[character] ?? 556), 0) * size) / 1000;
}

function drawn(part: PdfText | PdfRule): string {
  if ("rule" in part) return `0.8 G 0.5 w ${margin} ${height - part.rule} m ${width - margin} ${height - part.rule} l S`;
  const { text, x, y, size, bold = false, right = false } = part;
  const left = right ? x - widthOf(text, size) : x;
  return `BT /${bold ? "F2" : "F1"} ${size} Tf ${left.toFixed(2)} ${(height - y).toFixed(2)} Td ${encoded(text)} Tj ET`;
}

/** One A4 page. `title` is what a reader shows in its window. */
export function toPdf(title: string, parts: readonly (PdfText | PdfRule)[]): Buffer {
  const content = parts.map(drawn).join("\n");
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R /Lang <656e> >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    font("Helvetica"),
    font("Helvetica-Bold"),
    `<< /Title ${encoded(title)} /Producer ${encoded("Tessera sandbox")} >>`,
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  file += `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R /Info 7 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
