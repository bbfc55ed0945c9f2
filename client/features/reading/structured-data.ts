import { piecePath } from "#client/content/names.ts";
import type { PieceMetadata } from "#client/content/piece.ts";
import { paths } from "#client/paths.ts";

const publisher = { "@type": "Organization", name: "Tessera" };

export interface Crumb {
  name: string;
  path: string;
}

function breadcrumbs(crumbs: readonly Crumb[]): object {
  const items = crumbs.map(({ name, path }, index) => ({ "@type": "ListItem", position: index + 1, name, item: path }));
  return { "@type": "BreadcrumbList", itemListElement: items };
}

interface PageNames {
  home: string;
  blog: string;
}

/** Structured data of a piece for search engines (schema.org). Addresses are paths of this site. */
export function structuredDataOf(piece: PieceMetadata, names: PageNames): object[] {
  const own = { name: piece.title, path: piecePath(piece.name) };
  const blog = piece.kind === "article" ? [{ name: names.blog, path: paths.blog }] : [];
  const trail = breadcrumbs([{ name: names.home, path: paths.home }, ...blog, own]);
  if (piece.kind === "legal") return [trail];
  const path = piecePath(piece.name);
  const article = {
    "@type": piece.kind === "article" ? "BlogPosting" : "Article",
    headline: piece.title,
    description: piece.description,
    datePublished: piece.published,
    dateModified: piece.updated,
    inLanguage: piece.language,
    wordCount: piece.words,
    timeRequired: `PT${piece.readingMinutes}M`,
    url: path,
    mainEntityOfPage: path,
    author: publisher,
    publisher,
  };
  return [article, trail];
}

/** Structured data of the list of articles. */
export function blogStructuredData(title: string, articles: readonly PieceMetadata[]): object[] {
  const posts = articles.map((piece) => ({
    "@type": "BlogPosting",
    headline: piece.title,
    datePublished: piece.published,
    url: piecePath(piece.name),
  }));
  return [{ "@type": "Blog", name: title, url: paths.blog, publisher, blogPost: posts }];
}
