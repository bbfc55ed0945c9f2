import { useLocation } from "wouter";
import { isWritten } from "#client/content/bodies.ts";
import { kindOf, pieceNameAt } from "#client/content/names.ts";
import { SaveSlot } from "#client/features/kept/save-slot.tsx";
import { prepareReading } from "#client/features/reading/prepare-reading.ts";
import { ReadingView } from "#client/features/reading/reading-view.tsx";
import { NotFoundLater } from "./not-found-later.tsx";

/** Loads what the first render needs at this address in this language. */
export async function prepareGuide(pathname: string, language: string): Promise<void> {
  const name = pieceNameAt(pathname);
  if (name) await prepareReading(name, language);
}

/** A guide or a legal page, depending on the address. */
export function GuidePage() {
  const [pathname] = useLocation();
  const name = pieceNameAt(pathname);
  if (!name || !isWritten(name)) return <NotFoundLater />;
  return <ReadingView key={name} name={name} offlineControl={kindOf(name) !== "legal" && <SaveSlot />} />;
}
