import i18next from "i18next";
import type { ComponentType } from "react";
import { lazy } from "react";
import { Route, Switch } from "wouter";
import { PageSpinner } from "./components/spinner.tsx";
import { useEnvironment } from "./features/environment/environment-store.ts";
import { paths } from "./paths.ts";

/** Every page is a chunk of its own, fetched when its address is opened. */
function page(path: string, texts: readonly string[], load: () => Promise<ComponentType>) {
  return { path, texts, load, Component: lazy(async () => ({ default: await load() })) };
}

const pages = [
  page(paths.home, ["home", "pricing", "billing"], async () => (await import("./pages/home.tsx")).HomePage),
  page(paths.auth, ["auth"], async () => (await import("./pages/auth.tsx")).AuthPage),
  page(paths.aiModels, ["chat"], async () => (await import("./pages/ai-models.tsx")).AiModelsPage),
  page(paths.profile, ["account", "billing"], async () => (await import("./pages/profile.tsx")).ProfilePage),
  page(paths.pricing, ["pricing", "billing"], async () => (await import("./pages/pricing.tsx")).PricingPage),
];
const NotFoundPage = lazy(async () => ({ default: (await import("./pages/not-found.tsx")).NotFoundPage }));
const DesignPage = lazy(async () => ({ default: (await import("./pages/design.tsx")).DesignPage }));

/** Outside production only: where the sandbox is on. */
function DesignRoute() {
  const { asked, sandboxUrl } = useEnvironment();
  if (!asked) return <PageSpinner />;
  return sandboxUrl === null ? <NotFoundPage /> : <DesignPage />;
}

/** Starts fetching the page of the first address beside its texts; returns their namespaces. */
export function prepareFirstPage(pathname: string): readonly string[] {
  const first = pages.find(({ path }) => path === pathname);
  // A failure here is met again, and answered, when the page is drawn.
  first?.load().catch(() => undefined);
  return first?.texts ?? [];
}

/** Fetches a page and its texts that will probably be asked for next. A failure is met again when it is. */
export function prefetchPage(pathname: string): void {
  const next = pages.find(({ path }) => path === pathname);
  if (!next) return;
  next.load().catch(() => undefined);
  i18next.loadNamespaces(next.texts).catch(() => undefined);
}

export function Routes() {
  return (
    <Switch>
      {pages.map(({ path, Component }) => (
        <Route key={path} path={path} component={Component} />
      ))}
      <Route path={paths.design} component={DesignRoute} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}
