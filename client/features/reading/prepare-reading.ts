import { loadPiece, pieceOf, piecesOf } from "#client/content/library.ts";
import type { PieceName } from "#client/content/names.ts";
import { prepareIllustration } from "./illustration.tsx";

/** Resolves when the piece can be drawn at once, in that language or in English. */
export async function prepareReading(name: PieceName, language: string): Promise<void> {
  if (!pieceOf(name)) return;
  await Promise.all([loadPiece(language, name), prepareIllustration(name)]);
}

/** The list shows the picture of its latest article. */
export async function prepareBlogList(language: string): Promise<void> {
  const [latest] = piecesOf("article", language);
  if (latest) await prepareIllustration(latest.name);
}
