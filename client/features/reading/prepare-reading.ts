import { loadPiece, pieceOf, piecesOf } from "#client/content/library.ts";
import type { PieceName } from "#client/content/names.ts";
import { prepareIllustration } from "./illustration.tsx";

/** Resolves when the piece can be drawn at once, in that language or in English. */
export async function prepareReading(name: PieceName, language: string): Promise<void> {
  if (!pieceOf(name)) return;
  await Promise.all([loadPiece(language, name), prepareIllustration(name)]);
}

/** The list shows the picture of every article. */
export async function prepareBlogList(language: string): Promise<void> {
  await Promise.all(piecesOf("article", language).map(({ name }) => prepareIllustration(name)));
}
