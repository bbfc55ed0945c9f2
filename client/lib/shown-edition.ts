/**
 * The edition of the catalogue that a page shows (`catalogueEditions`). The server writes the edition of the day into every document, which
 * was prerendered with it, so the browser hydrates the same models that the HTML has.
 */
let edition: string | undefined;

/** There is no document when pages are prerendered. */
const { document } = globalThis as { document?: { documentElement: { dataset: { catalogue?: string } } } };

/** For prerendering: what is drawn from now on shows this edition. */
export function showEdition(day: string): void {
  edition = day;
}

/** The first day of the edition; undefined if the document names none. */
export function shownEdition(): string | undefined {
  edition ??= document?.documentElement.dataset.catalogue;
  return edition;
}
