/** Reads the text of a PDF in a thread of its own (read-pdf.ts), which may be ended at any time. */
import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";
import { countPieces } from "#domain/attachments.ts";
import type { PdfAsked, PdfRead } from "./read-pdf.ts";

async function read({ bytes, maximumPages, maximumTextBytes }: PdfAsked): Promise<PdfRead> {
  const document = await getDocumentProxy(bytes, { isEvalSupported: false, useSystemFonts: false, stopAtErrors: false });
  if (document.numPages > maximumPages) return { fault: "pages" };
  const pieces: string[] = [];
  const pageEnds: number[] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const words = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    // PostgreSQL's text can't hold U+0000.
    const own = `${words.trim().replaceAll("\0", "\uFFFD").toWellFormed()}\n\n`;
    const end = (pageEnds.at(-1) ?? 0) + Buffer.byteLength(own);
    if (end > maximumTextBytes) break;
    pieces.push(own);
    pageEnds.push(end);
    page.cleanup();
  }
  return { text: pieces.join(""), pageEnds, tokenEnds: countPieces(pieces), pages: document.numPages };
}

const asked = workerData as PdfAsked;
const result = await read(asked).catch(
  (error: unknown): PdfRead => ({ fault: (error as Error).name === "PasswordException" ? "encrypted" : "damaged" }),
);
parentPort?.postMessage(result);
