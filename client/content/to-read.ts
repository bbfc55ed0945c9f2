/** Prepares a piece for the client: fills in its numbers and recommendations at build, so that no reader downloads the catalogues. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { showModels } from "#client/lib/shown-edition.ts";
import { catalogueEditions } from "#domain/editions.ts";
import { fallbackLanguage } from "#domain/languages.ts";
import { catalogueAsOf } from "#domain/models.ts";
import { compilePiece } from "./compile.ts";
import { allFigures, fixedFigures } from "./figures.ts";
import { fillWith } from "./fill-with.ts";
import { modelFigures } from "./model-figures.ts";
import type { ModelSlots, Piece, PieceChange, PieceToRead, PieceVersions, Recommendation } from "./piece.ts";
import { withFigures } from "./with-figures.ts";

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

function pieceToRead(piece: Piece, file: string): PieceToRead {
  const { creditForms: _forms, ...filled } = withFigures(piece, fillWith(allFigures, piece)) as Piece;
  return { ...filled, recommended: recommendationsOf(piece, file) };
}

function changeOf(first: PieceToRead, piece: PieceToRead, from: string): PieceChange {
  const others = Object.entries(piece).filter(
    ([key, value]) => key !== "blocks" && !isDeepStrictEqual(first[key as keyof PieceToRead], value),
  );
  const blocks = [...piece.blocks.entries()].filter(([index, block]) => !isDeepStrictEqual(first.blocks[index], block));
  return { from, fields: Object.fromEntries(others), blocks };
}

const ofModels = new RegExp(`"prompt"|\\{\\{(${Object.keys(modelFigures).join("|")})\\b`);

/** What the piece says of models. `file` is its path. */
export function slotsOf(text: string, file: string): ModelSlots {
  const piece = compilePiece(text, file);
  const { creditForms, blocks, ...fields } = withFigures(piece, fillWith(fixedFigures, piece)) as Piece;
  const isOfModels = (value: unknown) => ofModels.test(JSON.stringify(value));
  return {
    creditForms,
    fields: Object.fromEntries(Object.entries(fields).filter(([, value]) => isOfModels(value))),
    blocks: [...blocks.entries()].filter(([, block]) => isOfModels(block)),
  };
}

/** The piece as it reads in each edition of the catalogue. `file` is its path. */
export function versionsToRead(text: string, file: string): PieceVersions {
  const read = (edition: string) => {
    showModels({ edition, off: [], own: [], prices: {} });
    return pieceToRead(compilePiece(text, file), file);
  };
  const [firstDay = catalogueAsOf, ...days] = catalogueEditions;
  const first = read(firstDay);
  const changes: PieceChange[] = [];
  for (const day of days) {
    const { fields, blocks } = changeOf(first, read(day), day);
    const before = changes.at(-1) ?? { fields: {}, blocks: [] };
    // An edition in which the piece reads as before is left out.
    if (!isDeepStrictEqual([before.fields, before.blocks], [fields, blocks])) changes.push({ from: day, fields, blocks });
  }
  return { piece: first, changes };
}
