/** Draws every public page in every language, in Node: at build, and on servers (drawing.ts). The browser never loads this file. */

import { text } from "node:stream/consumers";
import type { i18n } from "i18next";
import { createInstance } from "i18next";
import type { ComponentType } from "react";
import { prerenderToNodeStream } from "react-dom/static";
import { I18nextProvider, initReactI18next } from "react-i18next";
import { Router } from "wouter";
import type { LanguageCode } from "#domain/languages.ts";
import { languages } from "#domain/languages.ts";
import { App } from "./app.tsx";
import type { PageHead } from "./components/page-head.ts";
import { PageHeadContext } from "./components/page-head.ts";
import { pieceOf } from "./content/library.ts";
import { articleNames, pieceNameAt } from "./content/names.ts";
import { VisitorTrialBanner } from "./features/marketing/trial-banner.tsx";
import type { PageRoute } from "./page-route.tsx";
import { paths } from "./paths.ts";
import { framePaths, notFoundPage, pages } from "./routes.tsx";
import { descriptionOf, structuredDataOf } from "./structured-data.tsx";

export interface DrawnPage {
  /** A `page` is hydrated; in a `frame` the device renders the content; `notFound` is served for every unknown address. */
  kind: "page" | "frame" | "notFound";
  language: LanguageCode;
  path: string;
  html: string;
  head: PageHead;
  /** The sources, relative to `client/`, whose chunks the browser needs to hydrate the frame. */
  frameSources: string[];
  /** The sources that it needs besides to hydrate the page. */
  sources: string[];
  /** Sources it needs too if they exist. */
  parts: string[];
  /** Whether the page's content is hydrated only when it is needed (lib/sleep.ts). */
  sleeps: boolean;
}

/** The server replaces this text in the not-found page with the requested address. */
export const addressPlaceholder = "/{address}";

const texts = import.meta.glob<Record<string, unknown>>("./i18n/locales/*/*.json", { import: "default", eager: true });
const modules = import.meta.glob<Record<string, unknown>>("./pages/*.tsx", { eager: true });

/** What the server and the service worker must know about the routes. */
export const routing = {
  framePaths,
  queries: Object.fromEntries(pages.flatMap(({ addresses, queries }) => addresses.map((address) => [address, queries]))),
};

async function createTexts(language: LanguageCode): Promise<i18n> {
  const resources = Object.entries(texts).flatMap(([file, content]) => {
    const [, owner, namespace = ""] = /locales\/(\w+)\/([\w-]+)\.json$/.exec(file) ?? [];
    return owner === language ? [[namespace, content] as const] : [];
  });
  const instance = createInstance();
  await instance.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    resources: { [language]: Object.fromEntries(resources) },
    defaultNS: "common",
    returnNull: false,
    interpolation: { escapeValue: false },
  });
  return instance;
}

const loadedTexts = new Map<LanguageCode, Promise<i18n>>();

function textsOf(language: LanguageCode): Promise<i18n> {
  const texts = loadedTexts.get(language) ?? createTexts(language);
  loadedTexts.set(language, texts);
  return texts;
}

async function drawApp(texts: i18n, path: string): Promise<{ html: string; head: PageHead }> {
  let head: PageHead = {};
  const faults: unknown[] = [];
  // The first translation of the next render starts a new list.
  delete texts.reportNamespaces;
  const { prelude } = await prerenderToNodeStream(
    <Router ssrPath={path} ssrSearch="">
      <I18nextProvider i18n={texts}>
        <PageHeadContext value={(found) => (head = found)}>
          <App banner={<VisitorTrialBanner />} />
        </PageHeadContext>
      </I18nextProvider>
    </Router>,
    // Otherwise React would move large parts to the end of the HTML and put them in place with an inline script.
    { progressiveChunkSize: Number.POSITIVE_INFINITY, onError: (error) => void faults.push(error) },
  );
  const html = await text(prelude);
  if (faults.length > 0) throw new Error(`${path} could not be drawn in ${texts.language}`, { cause: faults[0] });
  return { html, head };
}

function sourceOf(Page: ComponentType, path: string): string {
  const found = Object.entries(modules).find(([, exports]) => Object.values(exports).includes(Page));
  if (!found) throw new Error(`${path}: what its route loads is no export of a file in client/pages/`);
  return found[0].slice("./".length);
}

function textSources(language: LanguageCode, namespaces: readonly string[]): string[] {
  return namespaces.map((namespace) => `i18n/locales/${language}/${namespace}.json`);
}

/** The sources of the list of a language's texts, and of the frame's texts. */
function frameSources(language: LanguageCode): string[] {
  return [`i18n/languages/${language}.ts`, ...textSources(language, ["common"])];
}

/** Throws if a page uses a namespace that its route doesn't list: fetching it would make React discard the prerendered page. */
function checkTexts(texts: i18n, namespaces: readonly string[], path: string): void {
  const missing = (texts.reportNamespaces?.getUsedNamespaces() ?? []).filter((used) => !namespaces.includes(used));
  if (missing.length > 0) throw new Error(`${path}: its first draw uses the texts ${missing.join(", ")}; name them in client/routes.tsx`);
}

/** The sources of a piece's text and its illustration; the list of articles needs all illustrations. */
function partsOf(path: string, language: LanguageCode): string[] {
  const name = pieceNameAt(path);
  const drawn = name ? [name] : path === paths.blog ? articleNames : [];
  const written = name && pieceOf(name, language);
  return [
    ...(written ? [`content/${written.language}/${name}.md?piece`] : []),
    ...drawn.map((piece) => `features/reading/illustrations/${piece}.tsx`),
  ];
}

async function drawPage(language: LanguageCode, route: PageRoute, path: string): Promise<DrawnPage> {
  const texts = await textsOf(language);
  const Page = await route.load(path, language);
  const { html, head } = await drawApp(texts, path);
  checkTexts(texts, ["common", "trial", ...route.texts, ...route.laterTexts], path);
  return {
    kind: route === notFoundPage ? "notFound" : "page",
    language,
    path,
    html,
    head: {
      ...head,
      description: head.description ?? descriptionOf(path, texts),
      structuredData: [...(head.structuredData ?? []), ...structuredDataOf(path, texts)],
    },
    frameSources: [...frameSources(language), ...(route.sleeps === false ? [] : ["sleeping-content.ts"])],
    sources: [sourceOf(Page, path), ...textSources(language, route.texts)],
    parts: partsOf(path, language),
    sleeps: route.sleeps !== false,
  };
}

/** The design page first asks the server whether this is a sandbox, so drawing it gives only the frame. */
async function drawFrame(language: LanguageCode): Promise<DrawnPage> {
  const frame = await drawApp(await textsOf(language), paths.design);
  const given = { frameSources: frameSources(language), sources: [], parts: [], sleeps: false };
  return { kind: "frame", language, path: "", html: frame.html, head: { indexable: false }, ...given };
}

export type Place = Pick<DrawnPage, "kind" | "language" | "path">;

/** Everything there is to draw. */
export const places: readonly Place[] = languages.flatMap(({ code: language }) => [
  ...pages.flatMap((route) => route.addresses.map((path) => ({ kind: "page" as const, language, path }))),
  { kind: "notFound", language, path: addressPlaceholder },
  { kind: "frame", language, path: "" },
]);

/** Draws one page with the models that are shown now. Draw one after another, because what a page collects must not mix with another's. */
export async function draw({ kind, language, path }: Place): Promise<DrawnPage> {
  if (kind === "frame") return drawFrame(language);
  const route = kind === "page" ? pages.find(({ addresses }) => addresses.includes(path)) : notFoundPage;
  if (!route) throw new Error(`${path} has no route`);
  return drawPage(language, route, path);
}
