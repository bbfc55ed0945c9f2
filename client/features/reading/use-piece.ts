import { use } from "react";
import { loadedPiece, loadPiece } from "#client/content/bodies.ts";
import type { PieceName } from "#client/content/names.ts";
import type { PieceToRead } from "#client/content/piece.ts";

/** The text in that language, or in English. Suspends until it is loaded. */
export function usePiece(language: string, name: PieceName): PieceToRead {
  return loadedPiece(language, name) ?? use(loadPiece(language, name));
}
