/** Writes compressed copies of every text file, once at build and with the strongest compression. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const textual = /\.(js|css|svg|json|webmanifest)$/;
/** For smaller files the headers outweigh what is saved. */
const leastBytes = 400;

async function compressFile(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < leastBytes) return;
  const brotli = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  const [small, older] = await Promise.all([
    promisify(brotliCompress)(content, { params: brotli }),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([writeFile(`${file}.br`, small), writeFile(`${file}.gz`, older)]);
}

/**
 * Compresses every file in `folder` that is served unchanged. Prerendered pages are not, because the server fills them in
 * (server/http/pages.ts).
 */
export async function compressFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && textual.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    // The bundler's own notes for the build are not served.
    .filter((file) => !path.relative(folder, file).startsWith("."))
    // Nor is the program that draws.
    .filter((file) => !path.relative(folder, file).startsWith("drawing"));
  await Promise.all(files.map(compressFile));
}
