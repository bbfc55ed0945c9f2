/** The title of the browser's tab: the page's, then the product's. The home page has only the product's. */
export function documentTitle(title: string | undefined): string {
  return title ? `${title} · Tessera` : "Tessera";
}
