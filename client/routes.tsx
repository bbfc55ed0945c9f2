import type { ComponentType } from "react";
import { lazy } from "react";
import { Route, Switch } from "wouter";
import { PageSpinner } from "./components/spinner.tsx";
import { useEnvironment } from "./features/environment/environment-store.ts";
import { paths } from "./paths.ts";

/** Every page is a chunk of its own, fetched when its address is opened. */
const HomePage = lazy(async () => ({ default: (await import("./pages/home.tsx")).HomePage }));
const AuthPage = lazy(async () => ({ default: (await import("./pages/auth.tsx")).AuthPage }));
const AiModelsPage = lazy(async () => ({ default: (await import("./pages/ai-models.tsx")).AiModelsPage }));
const ProfilePage = lazy(async () => ({ default: (await import("./pages/profile.tsx")).ProfilePage }));
const PricingPage = lazy(async () => ({ default: (await import("./pages/pricing.tsx")).PricingPage }));
const DesignPage = lazy(async () => ({ default: (await import("./pages/design.tsx")).DesignPage }));
const NotFoundPage = lazy(async () => ({ default: (await import("./pages/not-found.tsx")).NotFoundPage }));

/** Pages as they are named: `client/pages/<name>.tsx` exports `<Name>Page`. */
const routes: readonly (readonly [path: string, page: ComponentType])[] = [
  [paths.home, HomePage],
  [paths.auth, AuthPage],
  [paths.aiModels, AiModelsPage],
  [paths.profile, ProfilePage],
  [paths.pricing, PricingPage],
  [paths.design, DesignRoute],
];

/** Outside production only: where the sandbox is on. */
function DesignRoute() {
  const { asked, sandboxUrl } = useEnvironment();
  if (!asked) return <PageSpinner />;
  return sandboxUrl === null ? <NotFoundPage /> : <DesignPage />;
}

export function Routes() {
  return (
    <Switch>
      {routes.map(([path, Page]) => (
        <Route key={path} path={path} component={Page} />
      ))}
      <Route component={NotFoundPage} />
    </Switch>
  );
}
