import { paths } from "#client/paths.ts";
import type { LanguageCode } from "#domain/languages.ts";
import { forEachOf, keepAssets } from "./assets.ts";
import { hasPage, keepPage, listPages, notFoundPath } from "./pages.ts";
import { languageFiles } from "./release.ts";

/**
 * Pages kept without having been opened: where people begin, what is shown for missing pages, and the pages with forms.
 * `/profile` is only the frame.
 */
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
 * Caches a language completely: its texts, the base pages, and the pages that the reader has saved. Throws if the server can't
 * be reached.
 */
export async function keepLanguage(language: LanguageCode): Promise<void> {
  await keepAssets(languageFiles(language));
  await forEachOf(basePaths, (path) => keepMissing(path, language, "base"));
  const saved = (await listPages()).filter(({ keeping }) => keeping === "saved").map(({ path }) => path);
  await forEachOf([...new Set(saved)], (path) => keepMissing(path, language, "saved"));
}
