import type { ComponentType } from "react";
import { lazy, useState } from "react";
import { parse } from "regexparam";

/** Fetches the page's chunk and whatever else its first render needs at this address in this language. */
export type LoadPage = (pathname: string, language: string) => Promise<ComponentType>;

export interface PageRoute {
  path: string;
  /** Namespaces that the first render needs, besides the frame's. */
  texts: readonly string[];
  /** Namespaces of parts that keep their prerendered HTML until their own chunk has loaded; that chunk fetches these. */
  laterTexts: readonly string[];
  /** Addresses that are prerendered in every language. Empty for pages that only a signed-in person may see. */
  addresses: readonly string[];
  /** Query parameters that change the first render: with one of them, the page is rendered on the device. */
  queries: readonly string[];
  /**
   * Whether the prerendered content is left unhydrated until somebody needs more than its text and links (lib/sleep.ts). Briefly: until
   * somebody uses the page or it has been idle for a while, because its content is meant to be used.
   */
  sleeps: boolean | "briefly";
  /**
   * Run once the page is idle, while its content sleeps. Resolves to whether the content must wake up, because this visitor should see
   * something else.
   */
  stirs: (() => Promise<boolean>) | undefined;
  matches: (pathname: string) => boolean;
  load: LoadPage;
  /** The page if its chunk is loaded, otherwise a lazy component that waits for it. */
  current: () => ComponentType;
}

interface RouteOptions {
  laterTexts?: readonly string[];
  addresses?: readonly string[];
  queries?: readonly string[];
  sleeps?: PageRoute["sleeps"];
  stirs?: () => Promise<boolean>;
}

/**
 * A page with its own chunk, which is fetched when its address is opened. By default the path is its only public address; a
 * path with a parameter must list its addresses.
 */
export function page(
  path: string,
  texts: readonly string[],
  load: LoadPage,
  { addresses = path.includes(":") ? [] : [path], queries = [], laterTexts = [], sleeps = false, stirs }: RouteOptions = {},
): PageRoute {
  // As the router parses it: both have to find the same page at an address.
  const { pattern } = parse(path);
  let loaded: ComponentType | undefined;
  const loadPage: LoadPage = async (pathname, language) => {
    loaded = await load(pathname, language);
    return loaded;
  };
  const Later = lazy(async () => ({ default: await loadPage(location.pathname, document.documentElement.lang) }));
  const current = () => loaded ?? Later;
  return {
    path,
    texts,
    laterTexts,
    addresses,
    queries,
    sleeps,
    stirs,
    matches: (pathname) => pattern.test(pathname),
    load: loadPage,
    current,
  };
}

/** A page for signed-in people: only the frame around it is prerendered. */
export function privatePage(path: string, texts: readonly string[], load: LoadPage): PageRoute {
  return page(path, texts, load, { addresses: [] });
}

/** Renders a page whose chunk is loaded without suspending, because a prerendered page can't be hydrated around a suspended part. */
export function RoutePage({ route }: { route: PageRoute }) {
  const [Page] = useState(route.current);
  return <Page />;
}
