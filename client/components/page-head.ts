import { createContext } from "react";
import { documentTitle } from "./document-title.ts";

/** What a page says of itself to whoever reads the address without opening it: search engines, previews, the tab. */
export interface PageHead {
  /** Of the document, without the product's name. Undefined on the home page, which bears the name alone. */
  title?: string | undefined;
  /** One or two sentences, 120 to 155 characters (half of that in Chinese and Japanese). */
  description?: string | undefined;
  /** JSON-LD objects without their `@context`. */
  structuredData?: readonly object[] | undefined;
  /** False keeps the page out of search engines. */
  indexable?: boolean | undefined;
}

/** Prerendering listens here; in the browser nobody does, and the page sets the document itself. */
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

/** Follows a change of route or language. Canonical addresses and JSON-LD come with the page the server sent. */
export function applyPageHead({ title, description, indexable = true }: PageHead): void {
  document.title = documentTitle(title);
  if (description !== undefined) setMeta("description", description);
  setMeta("robots", indexable ? undefined : "noindex");
}
