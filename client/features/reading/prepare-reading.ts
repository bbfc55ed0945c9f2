import { isWritten, loadPiece } from "#client/content/bodies.ts";
import type { PieceName } from "#client/content/names.ts";
import { prepareIllustration } from "./illustration.tsx";

/** Resolves when the piece can be rendered without waiting, in that language or in English. */
export async function prepareReading(name: PieceName, language: string): Promise<void> {
  if (!isWritten(name)) return;
  await Promise.all([loadPiece(language, name), prepareIllustration(name)]);
}
