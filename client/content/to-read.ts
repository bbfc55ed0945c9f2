/** Prepares a piece for the client: fills in its numbers and recommendations at build, so that no reader downloads the catalogues. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fallbackLanguage } from "#domain/languages.ts";
import { compilePiece } from "./compile.ts";
import { figuresOf } from "./figures-of.ts";
import type { Piece, PieceToRead, Recommendation } from "./piece.ts";

function withFigures(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((inner) => withFigures(inner, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withFigures(inner, fill)]));
}

/** Leaves out pieces whose text does not exist yet. */
function recommendationsOf({ related }: Piece, file: string): Recommendation[] {
  const folders = [path.dirname(file), path.join(path.dirname(file), "..", fallbackLanguage)];
  return related.flatMap((wanted) => {
    const written = folders.map((folder) => path.join(folder, `${wanted}.md`)).find((place) => existsSync(place));
    if (!written) return [];
    const { name, language, kind, title, description } = compilePiece(readFileSync(written, "utf8"), written);
    return { name, language, kind, title, description };
  });
}

/** `file` is the path of the piece. */
export function pieceToRead(piece: Piece, file: string): PieceToRead {
  const { creditForms: _forms, ...filled } = withFigures(piece, figuresOf(piece)) as Piece;
  return { ...filled, recommended: recommendationsOf(piece, file) };
}
