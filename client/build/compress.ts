/** Smaller siblings of every text file, made once at build, as small as they get. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const textual = /\.(js|css|svg|json|webmanifest)$/;
/** Below this the headers weigh more than what is saved. */
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

/** Everything in `folder` that is served as it lies there; prerendered pages are not (server/http/pages.ts). */
export async function compressFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && textual.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    // What the bundler notes for the build is not served.
    .filter((file) => !path.relative(folder, file).startsWith("."));
  await Promise.all(files.map(compressFile));
}
