import "./components/tokens.css";
import "./components/fonts.css";
import "./components/base.css";
import { startTransition } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { Router } from "wouter";
import { matchLanguage } from "#domain/languages.ts";
import { App } from "./app.tsx";
import { followReader, setUpTexts } from "./i18n/set-up.ts";
import { startSession } from "./lib/session-refresh.ts";
import { sessionStore } from "./lib/session-store.ts";
import type { FirstPage } from "./routes.tsx";
import { prepareFirstPage } from "./routes.tsx";
import { registerInBackground } from "./sw/register.ts";

/** Whether the prerendered HTML is this address's own page, so that it can be hydrated. A mere frame and the not-found page are not. */
function isDrawnHere(root: HTMLElement, { queries }: FirstPage): boolean {
  const query = new URLSearchParams(location.search);
  return root.dataset.path === location.pathname && !queries.some((name) => query.has(name));
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
 * Marks the page as interactive and replays what the person typed and tapped before. From now on the client handles links, so
 * public/speculation-rules.json has nothing left to prefetch.
 */
function markInteractive(): void {
  document.documentElement.dataset.live = "";
  const tapped = document.querySelector<HTMLButtonElement>("[data-tapped]");
  delete tapped?.dataset.tapped;
  const typed = [...document.querySelectorAll<Field>("input, textarea")]
    .filter((field) => field.value !== field.defaultValue && field.type !== "checkbox" && field.type !== "radio")
    .map((field) => ({ field, value: field.value }));
  setTimeout(() => {
    for (const { field, value } of typed) replayInput(field, value);
    // Click the button that was tapped before the page was interactive (boot.js).
    tapped?.click();
  });
}

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Tells React about text that the person typed, or the browser filled in, before hydration, as if it were typed now. */
function replayInput(field: Field, value: string): void {
  // React ignores values set through the field's own setter as unchanged; the prototype's setter bypasses that.
  field.value = field.defaultValue;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * A state update during hydration would make React discard the prerendered page, so the stores start only when the first page
 * is hydrated.
 */
function hydrate(root: HTMLElement): void {
  let hydrated = false;
  const onFirstPage = () => {
    if (hydrated) return;
    hydrated = true;
    markInteractive();
    startStores();
    void followReader();
  };
  // The first render ignores the query string, as prerendering does; the render right after uses it.
  const app = (
    <Router ssrPath={location.pathname} ssrSearch="">
      <App onFirstPage={onFirstPage} />
    </Router>
  );
  // As a transition, so that hydration is done in slices and does not block scrolling and taps.
  startTransition(() => void hydrateRoot(root, app));
}

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root to render into.");
  const first = prepareFirstPage(location.pathname);
  const language = isDrawnHere(root, first) ? matchLanguage(document.documentElement.lang) : undefined;
  if (!language) startStores();
  await Promise.all([setUpTexts(first.texts, language), language && first.ready]);
  if (language) hydrate(root);
  else {
    createRoot(root).render(<App />);
    markInteractive();
  }
  registerInBackground();
}

void start();
