import { shownModels } from "#client/lib/shown-edition.ts";
import { fallbackLanguage } from "#domain/languages.ts";
import type { PieceName } from "./names.ts";
import type { PieceToRead, PieceVersions } from "./piece.ts";

/** The texts themselves, separate from their metadata (library.ts), so that a reader of one text doesn't download the list of all. */
const bodies = import.meta.glob<PieceVersions>("./*/*.md", { query: "?piece", import: "default" });

const fileOf = (language: string, name: PieceName) => `./${language}/${name}.md`;

/** False for a name whose text does not exist yet. */
export function isWritten(name: PieceName): boolean {
  return fileOf(fallbackLanguage, name) in bodies;
}

const loaded = new Map<string, PieceVersions>();
const loading = new Map<string, Promise<PieceToRead>>();

/** Loaded only if the page's models are those of no edition: some are switched off or repriced, or the operator has added some. */
let fill: typeof import("./fill-models.ts") | undefined;

async function prepareModels(file: string): Promise<void> {
  const { off, own, prices } = shownModels();
  if (!off[0] && !own[0] && !Object.keys(prices)[0]) return;
  fill = await import("./fill-models.ts");
  await fill.loadSlots(file);
}

/** The version for the models that the page shows. */
function versionOf(file: string, { piece, changes }: PieceVersions): PieceToRead {
  const edition = shownModels().edition ?? "";
  const change = changes.findLast(({ from }) => from <= edition);
  const changed = new Map(change?.blocks);
  const read = change ? { ...piece, ...change.fields, blocks: piece.blocks.map((block, index) => changed.get(index) ?? block) } : piece;
  return fill?.fillModels(file, read) ?? read;
}

/** The text in that language, or else in English. Rejects if there is none or it can't be fetched. */
export function loadPiece(language: string, name: PieceName): Promise<PieceToRead> {
  const file = bodies[fileOf(language, name)] ? fileOf(language, name) : fileOf(fallbackLanguage, name);
  const known = loading.get(file);
  if (known) return known;
  const load = bodies[file];
  if (!load) return Promise.reject(new Error(`${file} is not written.`));
  const promise = Promise.all([load(), prepareModels(file)]).then(([versions]) => {
    loaded.set(file, versions);
    return versionOf(file, versions);
  });
  loading.set(file, promise);
  // Forget a failed fetch, so that the next call tries again.
  promise.catch(() => loading.delete(file));
  return promise;
}

/** The text if it is already loaded. The page can then be rendered at once, for example when going back to it. */
export function loadedPiece(language: string, name: PieceName): PieceToRead | undefined {
  const file = bodies[fileOf(language, name)] ? fileOf(language, name) : fileOf(fallbackLanguage, name);
  const versions = loaded.get(file);
  return versions && versionOf(file, versions);
}
