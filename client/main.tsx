import "./components/tokens.css";
import "./components/fonts.css";
import "./components/base.css";
import { startTransition } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { Router } from "wouter";
import { matchLanguage } from "#domain/languages.ts";
import { App } from "./app.tsx";
import { replayEarlyInput } from "./early-input.ts";
import { followReader, isDrawnForReader, setUpTexts } from "./i18n/set-up.ts";
import { startSession } from "./lib/session-refresh.ts";
import { sessionStore } from "./lib/session-store.ts";
import { endSleep } from "./lib/sleep.ts";
import type { PageRoute } from "./page-route.tsx";
import { loadHere, routeOf } from "./routes.tsx";
import { registerInBackground } from "./sw/register.ts";

/** Whether the prerendered HTML is this address's own page, so that it can be hydrated. A mere frame and the not-found page are not. */
function isDrawnHere(root: HTMLElement, { queries }: PageRoute): boolean {
  const query = new URLSearchParams(location.search);
  return root.dataset.path === location.pathname && !queries.some((name) => query.has(name));
}

/**
 * Whether the content can sleep: its route allows it, and this device shows it as it was prerendered for everybody. A query string may
 * fill in a form, and signed-in people see their own plan.
 */
function canSleep({ sleeps }: PageRoute): boolean {
  const isForEverybody = /^(\?lang=\w*)?$/.test(location.search) && !("session" in document.documentElement.dataset);
  return sleeps !== false && isForEverybody && isDrawnForReader();
}

/**
 * Starts the stores that read what this device keeps. The code for signed-in people is fetched only for them, so visitors don't
 * download it.
 */
function startStores(): void {
  startSession();
  let started = false;
  const follow = () => {
    if (started || sessionStore.getState().user === null) return;
    started = true;
    import("./signed-in.ts").then(
      ({ startSignedIn }) => startSignedIn(),
      // Tried again at the next change of the session.
      () => {
        started = false;
      },
    );
  };
  follow();
  sessionStore.subscribe(follow);
}

/**
 * Marks the page as interactive. From now on the client handles links, so public/speculation-rules.json has nothing left to prefetch.
 */
function markInteractive(): void {
  document.documentElement.dataset.live = "";
  void replayEarlyInput();
}

/**
 * A state update during hydration would make React discard the prerendered page, so the stores start only when the first page
 * is hydrated, or the frame around content that sleeps.
 */
function hydrate(root: HTMLElement, asleep: boolean): void {
  let hydrated = false;
  const onHydrated = () => {
    if (hydrated) return;
    hydrated = true;
    markInteractive();
    startStores();
    void followReader();
  };
  // The first render ignores the query string, as prerendering does; the render right after uses it.
  const app = (
    <Router ssrPath={location.pathname} ssrSearch="">
      {asleep ? <App onFrame={onHydrated} onFirstPage={endSleep} /> : <App onFirstPage={onHydrated} />}
    </Router>
  );
  // A transition does the hydration in slices, so it does not block scrolling and taps.
  startTransition(() => void hydrateRoot(root, app));
}

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root to render into.");
  const first = routeOf(location.pathname);
  const language = isDrawnHere(root, first) ? matchLanguage(document.documentElement.lang) : undefined;
  const asleep = language !== undefined && canSleep(first);
  if (!language) startStores();
  if (asleep) {
    const [{ sleepUntilNeeded }] = await Promise.all([import("./sleeping-content.ts"), setUpTexts([], language)]);
    sleepUntilNeeded(first, () => void replayEarlyInput());
  } else {
    // A page that isn't hydrated may show its spinner while its code is loading.
    const ready = loadHere(first);
    await Promise.all([setUpTexts(first.texts, language), language && ready]);
  }
  if (language) hydrate(root, asleep);
  else {
    createRoot(root).render(<App />);
    markInteractive();
  }
  registerInBackground();
}

void start();
