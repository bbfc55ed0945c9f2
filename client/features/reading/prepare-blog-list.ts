import { piecesOf } from "#client/content/library.ts";
import { prepareIllustration } from "./illustration.tsx";

/** The list shows the picture of every article. */
export async function prepareBlogList(language: string): Promise<void> {
  await Promise.all(piecesOf("article", language).map(({ name }) => prepareIllustration(name)));
}
