/**
 * The documents of pages, drawn for the models that are given: at build for every edition of the catalogue (build.ts), and by servers whose
 * models are those of no edition (server/http/drawer.ts), from the files that the build has left. Bundled with everything it needs.
 */
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { readAssets } from "./build/assets.ts";
import { documentOf } from "./build/document.ts";
import type { Shown } from "./lib/shown-edition.ts";
import { showModels } from "./lib/shown-edition.ts";
import type { DrawnPage, Place } from "./prerender.tsx";
import { addressPlaceholder, draw, places, routing } from "./prerender.tsx";

function fileOf({ kind, language, path: address }: Place): string {
  if (kind === "frame") return `pages/${language}/frame.html`;
  if (kind === "notFound") return `pages/${language}/404.html`;
  return `pages/${language}${address === "/" ? "/index" : address}.html`;
}

/** The page's own preview picture, or else the picture of its kind, or else the product's. */
async function pictureOf(site: string, address: string): Promise<string> {
  const [kind = "", name] = address.slice(1).split("/");
  const candidates = name === undefined ? [`${kind}.png`] : [`${kind}-${name}.png`, `${kind}.png`];
  for (const file of candidates) {
    const exists = await access(path.join(site, "og", file)).then(
      () => true,
      () => false,
    );
    if (exists) return file;
  }
  return "home.png";
}

/** What the server and the service worker must know about the pages. */
export const facts = { addressPlaceholder, routing, fileOf };

export interface DrawnDocument {
  page: DrawnPage;
  document: string;
}

export interface Drawing {
  /** The documents there are, by their files. */
  places: ReadonlyMap<string, Place>;
  /** Draw one after another. */
  draw(place: Place): Promise<DrawnDocument>;
  show(models: Shown): void;
}

/** `site` is the folder of the built client. Only the build may write there: it joins the styles of each page. */
export async function openDrawing(site: string, { joins = false } = {}): Promise<Drawing> {
  const [template, assets] = await Promise.all([readFile(path.join(site, "index.html"), "utf8"), readAssets(site, joins)]);
  return {
    places: new Map(places.map((place) => [fileOf(place), place])),
    show: showModels,
    async draw(place) {
      const page = await draw(place);
      return { page, document: await documentOf(page, template, assets, await pictureOf(site, page.path)) };
    },
  };
}
