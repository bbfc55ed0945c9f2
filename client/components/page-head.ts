import { createContext } from "react";
import { documentTitle } from "./document-title.ts";

/** A page's metadata for search engines, link previews and the browser's tab. */
export interface PageHead {
  /** The document's title, without the product's name. Undefined on the home page, whose title is only that name. */
  title?: string | undefined;
  /** One or two sentences, 120 to 155 characters (half of that in Chinese and Japanese). */
  description?: string | undefined;
  /** JSON-LD objects without their `@context`. */
  structuredData?: readonly object[] | undefined;
  /** False keeps the page out of search engines. */
  indexable?: boolean | undefined;
}

/** Used by prerendering to collect the metadata. In the browser it is null, and the page changes the document itself. */
export const PageHeadContext = createContext<((head: PageHead) => void) | null>(null);

function setMeta(name: string, content: string | undefined): void {
  const found = document.head.querySelector<HTMLMetaElement>(`meta[name="${name}"]`);
  if (content === undefined) {
    found?.remove();
    return;
  }
  const meta = found ?? document.createElement("meta");
  meta.name = name;
  meta.content = content;
  if (!found) document.head.append(meta);
}

/** Applies the metadata after a change of route or language. Canonical addresses and JSON-LD are only in the HTML that the server sends. */
export function applyPageHead({ title, description, indexable = true }: PageHead): void {
  document.title = documentTitle(title);
  if (description !== undefined) setMeta("description", description);
  setMeta("robots", indexable ? undefined : "noindex");
}
