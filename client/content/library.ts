import { fallbackLanguage } from "#domain/languages.ts";
import type { PieceKind, PieceName } from "./names.ts";
import { pieceNames } from "./names.ts";
import type { PieceMetadata } from "./piece.ts";

const metadata = import.meta.glob<PieceMetadata>("./*/*.md", { query: "?metadata", import: "default", eager: true });

const fileOf = (language: string, name: PieceName) => `./${language}/${name}.md`;

/** The metadata of a piece in that language, or else in English; the result's `language` says which. */
export function pieceOf(name: PieceName, language: string = fallbackLanguage): PieceMetadata | undefined {
  return metadata[fileOf(language, name)] ?? metadata[fileOf(fallbackLanguage, name)];
}

/** All pieces of one kind, the newest first. */
export function piecesOf(kind: PieceKind, language: string = fallbackLanguage): PieceMetadata[] {
  return pieceNames
    .flatMap((name) => pieceOf(name, language) ?? [])
    .filter((piece) => piece.kind === kind)
    .sort((one, other) => other.published.localeCompare(one.published));
}

/** All pieces with their English metadata: for the sitemap, the feed and the list of what can be kept offline. */
export const pieces: readonly PieceMetadata[] = pieceNames.flatMap((name) => pieceOf(name) ?? []);
