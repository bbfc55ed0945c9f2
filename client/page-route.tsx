import type { ComponentType } from "react";
import { lazy, useState } from "react";

/** Fetches the page's chunk and whatever its first draw at this address, in this language, needs. */
export type LoadPage = (pathname: string, language: string) => Promise<ComponentType>;

export interface PageRoute {
  path: string;
  /** Namespaces that its first draw needs, besides the frame's. */
  texts: readonly string[];
  /** Namespaces of parts that stand as they were drawn until their own chunk has come, which fetches them. */
  laterTexts: readonly string[];
  /** Drawn at build, in every language. None: the address shows what only the person signed in may see. */
  addresses: readonly string[];
  /** Names in the query that change the first draw: with one of them the page is drawn on the device. */
  queries: readonly string[];
  matches: (pathname: string) => boolean;
  load: LoadPage;
  /** The page where its chunk is here already, else what waits for it. */
  current: () => ComponentType;
}

interface RouteOptions {
  laterTexts?: readonly string[];
  addresses?: readonly string[];
  queries?: readonly string[];
}

function patternOf(path: string): RegExp {
  const pattern = path.replaceAll(/:\w+/g, "[^/]+").replace("/*?", "(/.*)?").replace(/^\*$/, ".*");
  return new RegExp(`^${pattern}/?$`);
}

/**
 * One page, a chunk of its own that is fetched when its address is opened. By default the path itself is its one public
 * address; a path with a parameter lists the addresses it has.
 */
export function page(
  path: string,
  texts: readonly string[],
  load: LoadPage,
  { addresses = path.includes(":") ? [] : [path], queries = [], laterTexts = [] }: RouteOptions = {},
): PageRoute {
  const pattern = patternOf(path);
  let loaded: ComponentType | undefined;
  const loadPage: LoadPage = async (pathname, language) => {
    loaded = await load(pathname, language);
    return loaded;
  };
  const Later = lazy(async () => ({ default: await loadPage(location.pathname, document.documentElement.lang) }));
  const current = () => loaded ?? Later;
  return { path, texts, laterTexts, addresses, queries, matches: (pathname) => pattern.test(pathname), load: loadPage, current };
}

/** A page for the person signed in: only the frame round it is drawn at build. */
export function privatePage(path: string, texts: readonly string[], load: LoadPage): PageRoute {
  return page(path, texts, load, { addresses: [] });
}

/** What is here already is drawn in the same breath: a prerendered page can't be hydrated round a hole. */
export function RoutePage({ route }: { route: PageRoute }) {
  const [Page] = useState(route.current);
  return <Page />;
}
