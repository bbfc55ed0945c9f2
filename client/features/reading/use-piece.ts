import { use } from "react";
import { loadedPiece, loadPiece } from "#client/content/library.ts";
import type { PieceName } from "#client/content/names.ts";
import type { Piece } from "#client/content/piece.ts";

/** The text in that language, or in English; what is not here yet suspends the page. */
export function usePiece(language: string, name: PieceName): Piece {
  return loadedPiece(language, name) ?? use(loadPiece(language, name));
}
