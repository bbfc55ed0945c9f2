import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "vite";
import { compilePiece, metadataOf } from "./content/compile.ts";
import { ContentFault } from "./content/faults.ts";
import type { Piece, PieceToRead, Recommendation } from "./content/piece.ts";

const request = /\/content\/\w+\/[\w-]+\.md\?(metadata|piece)$/;

/** Of the pieces that exist: a name may be taken before its text is written. */
async function recommendationsOf(piece: Piece, file: string): Promise<Recommendation[]> {
  const folder = path.dirname(file);
  const found: Recommendation[] = [];
  for (const related of piece.related) {
    const written = [folder, path.join(folder, "../en")]
      .map((place) => path.join(place, `${related}.md`))
      .find((place) => existsSync(place));
    if (!written) continue;
    const { name, language, kind, title, description } = compilePiece(await readFile(written, "utf8"), written);
    found.push({ name, language, kind, title, description });
  }
  return found;
}

/**
 * `content/en/marketing.md?piece` is the compiled text as a module, `?metadata` what is known of it without its body.
 * A fault in a text is a fault of the build.
 */
export function contentPlugin(): Plugin {
  return {
    name: "content",
    enforce: "pre",
    async load(id) {
      const [, form] = request.exec(id.replaceAll("\\", "/")) ?? [];
      if (form === undefined) return null;
      const file = id.slice(0, id.lastIndexOf("?"));
      this.addWatchFile(file);
      try {
        const piece = compilePiece(await readFile(file, "utf8"), file);
        const value =
          form === "piece" ? ({ ...piece, recommended: await recommendationsOf(piece, file) } satisfies PieceToRead) : metadataOf(piece);
        return { code: `export default ${JSON.stringify(value)};`, moduleType: "js", map: null };
      } catch (error) {
        if (!(error instanceof ContentFault)) throw error;
        const shown = path.relative(process.cwd(), file);
        return this.error({ message: error.message.replace(file, shown), id, loc: { file, line: error.line, column: 0 } });
      }
    },
  };
}
