import { piecesOf } from "#client/content/library.ts";
import { prepareIllustration } from "./illustration.tsx";

/** Loads the illustrations of all articles, which the list shows. */
export async function prepareBlogList(language: string): Promise<void> {
  await Promise.all(piecesOf("article", language).map(({ name }) => prepareIllustration(name)));
}
