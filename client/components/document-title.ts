/** Of the browser's tab: the page's own, then the product's; the home page bears the product's alone. */
export function documentTitle(title: string | undefined): string {
  return title ? `${title} · Tessera` : "Tessera";
}
