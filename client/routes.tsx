import i18next from "i18next";
import { useLayoutEffect } from "react";
import { Route, Switch } from "wouter";
import { PageSpinner } from "./components/spinner.tsx";
import { articleNames, calculatorName, guideNames, legalNames, piecePath } from "./content/names.ts";
import { useEnvironment } from "./features/environment/environment-store.ts";
import type { LoadPage, PageRoute } from "./page-route.tsx";
import { page, privatePage, RoutePage } from "./page-route.tsx";
import { paths } from "./paths.ts";

const loadGuide: LoadPage = async (pathname, language) => {
  const { GuidePage, prepareGuide } = await import("./pages/guide.tsx");
  await prepareGuide(pathname, language);
  return GuidePage;
};

const loadArticle: LoadPage = async (pathname, language) => {
  const { ArticlePage, prepareArticle } = await import("./pages/article.tsx");
  await prepareArticle(pathname, language);
  return ArticlePage;
};

const loadBlog: LoadPage = async (_pathname, language) => {
  const { BlogPage, prepareBlog } = await import("./pages/blog.tsx");
  await prepareBlog(language);
  return BlogPage;
};

/** Guides and legal pages have addresses of their own; articles are under /blog. */
const readingPages: readonly PageRoute[] = [
  ...[...guideNames, ...legalNames].map((name) => page(piecePath(name), ["reading"], loadGuide, { sleeps: true })),
  page(paths.blog, ["reading"], loadBlog, { sleeps: true }),
  // The calculator's fields are disabled until its code is there, so nobody can wake it by a tap.
  page(piecePath(calculatorName), ["reading"], loadArticle, { laterTexts: ["roi"], sleeps: "briefly" }),
  page(`${paths.blog}/:slug`, ["reading"], loadArticle, {
    addresses: articleNames.filter((name) => name !== calculatorName).map(piecePath),
    sleeps: true,
  }),
];

const offerPasskeys = async () => (await import("./features/auth/passkey-offer.ts")).offerEarly();
const hasDiscount = async () => (await import("./features/marketing/ask-discount.ts")).hasDiscount();

/** Every file that this one names costs every visitor of every page, so what only signed-in people open is named there. */
const signedIn = () => import("./signed-in.ts");

export const pages: readonly PageRoute[] = [
  page(paths.home, ["home", "plans"], async () => (await import("./pages/home.tsx")).HomePage, { sleeps: true, stirs: hasDiscount }),
  page(paths.auth, ["auth", "errors"], async () => (await import("./pages/auth.tsx")).AuthPage, {
    queries: ["mode", "confirm", "recover", "change", "undo", "disown", "return", "keep-factors", "reset-factors", "google"],
    sleeps: "briefly",
    stirs: offerPasskeys,
  }),
  page(paths.aiModels, ["chat"], async () => (await import("./pages/ai-models.tsx")).AiModelsPage, {
    queries: ["conversation", "prompt", "model"],
    sleeps: "briefly",
  }),
  privatePage(paths.profile, ["account", "auth", "steps", "billing", "wallet", "errors", "refusals"], async () =>
    (await signedIn()).loadProfile(),
  ),
  privatePage(paths.accountSection, ["access", "account", "auth", "steps", "errors", "refusals"], async () =>
    (await signedIn()).loadAccountSection(),
  ),
  // Asks who is there before it fetches the panel, and is the not-found page for everybody but the team.
  privatePage(paths.adminPlace, ["not-found"], async () => (await signedIn()).loadAdmin()),
  page(paths.pricing, ["pricing", "plans"], async () => (await import("./pages/pricing.tsx")).PricingPage, {
    queries: ["checkout"],
    sleeps: true,
    stirs: hasDiscount,
  }),
  page(paths.about, ["about", "home", "pricing", "wallet"], async () => (await import("./pages/about.tsx")).AboutPage, { sleeps: true }),
  page(paths.contact, ["contact", "errors"], async () => (await import("./pages/contact.tsx")).ContactPage, { sleeps: "briefly" }),
  ...readingPages,
  page(paths.offline, ["offline"], async () => (await import("./pages/offline.tsx")).OfflinePage),
];
export const notFoundPage = page("*", ["not-found"], async () => (await import("./pages/not-found.tsx")).NotFoundPage);
const designPage = privatePage(paths.design, ["design", "wallet"], async () => (await signedIn()).loadDesign());

/** Addresses for which only the frame is prerendered. */
export const framePaths: readonly string[] = [
  ...pages.filter(({ addresses }) => addresses.length === 0).map(({ path }) => path.replace("/*?", "")),
  paths.design,
];

/** Only in the sandbox, so never in production. */
function DesignRoute() {
  const { asked, sandboxUrl } = useEnvironment();
  if (!asked) return <PageSpinner />;
  return sandboxUrl === null ? <RoutePage route={notFoundPage} /> : <RoutePage route={designPage} />;
}

export function routeOf(pathname: string): PageRoute {
  return pages.find(({ matches }) => matches(pathname)) ?? notFoundPage;
}

/**
 * Resolves to whether the page at the current address can be rendered without waiting for code. It never rejects: a failed fetch shows its
 * error when the page is rendered.
 */
export function loadHere({ load }: PageRoute): Promise<boolean> {
  return load(location.pathname, document.documentElement.lang).then(
    () => true,
    () => false,
  );
}

/** Whether a public page, and no file, is at this address. */
export function isPage(pathname: string): boolean {
  return pages.some(({ matches }) => matches(pathname));
}

/** Fetches a page and its texts before it is opened. A failure is ignored here, because opening the page fetches again. */
export function prefetchPage(pathname: string): void {
  const next = pages.find(({ matches }) => matches(pathname));
  if (!next) return;
  next.load(pathname, document.documentElement.lang).catch(() => undefined);
  i18next.loadNamespaces(next.texts).catch(() => undefined);
}

/** Any address. The router's own `*` fits no line break, and with one in the address no page would be shown. */
const anything = /^/;

interface RoutesProps {
  /** Called once the first page has been rendered, or hydrated if it was prerendered. */
  onFirstPage?: (() => void) | undefined;
}

export function Routes({ onFirstPage }: RoutesProps) {
  // A layout effect, so that it runs before the page's own effects, which may ask who is signed in.
  useLayoutEffect(() => onFirstPage?.(), [onFirstPage]);
  return (
    <Switch>
      {pages.map((route) => (
        <Route key={route.path} path={route.path}>
          <RoutePage route={route} />
        </Route>
      ))}
      <Route path={paths.design} component={DesignRoute} />
      <Route path={anything}>
        <RoutePage route={notFoundPage} />
      </Route>
    </Switch>
  );
}
