import type { KeptPage } from "#client/sw/messages.ts";

/** One entry of the list: an address, in all languages in which it is kept. */
export interface KeptPiece {
  path: string;
  title: string;
  saved: boolean;
  bytes: number;
  keptAtMs: number;
}

/** Saved pages first, then visited ones, the latest first in each group. `language` decides which title is shown. */
export function keptPieces(pages: readonly KeptPage[], language: string): KeptPiece[] {
  const pieces = new Map<string, KeptPiece>();
  const own = (page: KeptPage) => page.language === language;
  for (const page of pages.filter(({ keeping }) => keeping !== "base").toSorted((one, other) => Number(own(one)) - Number(own(other)))) {
    const before = pieces.get(page.path);
    pieces.set(page.path, {
      path: page.path,
      title: page.title,
      saved: page.keeping === "saved" || before?.saved === true,
      bytes: page.bytes + (before?.bytes ?? 0),
      keptAtMs: Math.max(page.keptAtMs, before?.keptAtMs ?? 0),
    });
  }
  return [...pieces.values()].sort((one, other) => Number(other.saved) - Number(one.saved) || other.keptAtMs - one.keptAtMs);
}
