import type { LanguageCode } from "#domain/languages.ts";
import { fallbackLanguage } from "#domain/languages.ts";
import type { PieceKind, PieceName } from "./names.ts";
import { pieceNames } from "./names.ts";
import type { Piece, PieceMetadata } from "./piece.ts";

const metadata = import.meta.glob<PieceMetadata>("./*/*.md", { query: "?metadata", import: "default", eager: true });
const bodies = import.meta.glob<Piece>("./*/*.md", { query: "?piece", import: "default" });

const fileOf = (language: string, name: PieceName) => `./${language}/${name}.md`;

/** What is known of a piece, in that language or else in English; `language` of the result says which it is. */
export function pieceOf(name: PieceName, language: string = fallbackLanguage): PieceMetadata | undefined {
  return metadata[fileOf(language, name)] ?? metadata[fileOf(fallbackLanguage, name)];
}

/** All of one kind, the newest first. */
export function piecesOf(kind: PieceKind, language: string = fallbackLanguage): PieceMetadata[] {
  return pieceNames
    .flatMap((name) => pieceOf(name, language) ?? [])
    .filter((piece) => piece.kind === kind)
    .sort((one, other) => other.published.localeCompare(one.published));
}

/** Everything there is to read, as English tells it: for the sitemap, the feed and the list of what can be kept offline. */
export const pieces: readonly PieceMetadata[] = pieceNames.flatMap((name) => pieceOf(name) ?? []);

/** The languages a piece is written in. */
export function languagesOf(name: PieceName): LanguageCode[] {
  return Object.values(metadata)
    .filter((piece) => piece.name === name)
    .map((piece) => piece.language);
}

const loaded = new Map<string, Piece>();
const loading = new Map<string, Promise<Piece>>();

/** The text itself, in that language or else in English. Rejects when there is none, or it can't be fetched. */
export function loadPiece(language: string, name: PieceName): Promise<Piece> {
  const file = bodies[fileOf(language, name)] ? fileOf(language, name) : fileOf(fallbackLanguage, name);
  const known = loading.get(file);
  if (known) return known;
  const load = bodies[file];
  if (!load) return Promise.reject(new Error(`${file} is not written.`));
  const promise = load().then((piece) => {
    loaded.set(file, piece);
    return piece;
  });
  loading.set(file, promise);
  // A connection that failed must not fail the next try.
  promise.catch(() => loading.delete(file));
  return promise;
}

/** The text where it has been loaded already: a page that has it can be drawn at once, as when going back to it. */
export function loadedPiece(language: string, name: PieceName): Piece | undefined {
  return loaded.get(fileOf(language, name)) ?? (bodies[fileOf(language, name)] ? undefined : loaded.get(fileOf(fallbackLanguage, name)));
}
