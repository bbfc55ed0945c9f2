import { paths } from "#client/paths.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { forEachOf, keepAssets } from "./assets.ts";
import { hasPage, keepPage, listPages, notFoundPath } from "./pages.ts";
import { languageFiles } from "./release.ts";

/** There without having been opened: where people begin, what stands in for the rest, and where forms are written. `/profile` is the frame alone. */
const basePaths = [
  paths.home,
  paths.pricing,
  paths.auth,
  paths.aiModels,
  paths.contact,
  paths.offline,
  paths.profile,
  notFoundPath,
] as const;

async function keepMissing(path: string, language: LanguageCode, keeping: "base" | "saved"): Promise<void> {
  if (!(await hasPage(path, language))) await keepPage(path, language, keeping);
}

/**
 * Keeps a language whole: its texts, the pages that are always there, and in it what the reader has saved. Throws where the
 * server can't be reached.
 */
export async function keepLanguage(language: LanguageCode): Promise<void> {
  await keepAssets(languageFiles(language));
  await forEachOf(basePaths, (path) => keepMissing(path, language, "base"));
  const saved = (await listPages()).filter(({ keeping }) => keeping === "saved").map(({ path }) => path);
  await forEachOf([...new Set(saved)], (path) => keepMissing(path, language, "saved"));
}
