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

/** Whether what stands in the page is what this address draws first: the frame alone and the not-found page are not. */
function isDrawnHere(root: HTMLElement, { queries }: FirstPage): boolean {
  const query = new URLSearchParams(location.search);
  return root.dataset.path === location.pathname && !queries.some((name) => query.has(name));
}

/** Reads what this device knows of the person; visitors download nothing that only the signed-in need. */
function startStores(): void {
  startSession();
  let started = false;
  const follow = () => {
    if (started || sessionStore.getState().user === null) return;
    started = true;
    import("./signed-in.ts").then(
      ({ startSignedIn }) => startSignedIn(),
      // Tried again with the next change of the session.
      () => {
        started = false;
      },
    );
  };
  follow();
  sessionStore.subscribe(follow);
}

/** From here on links are followed on the device, and public/speculation-rules.json has nothing left to fetch. */
function live(): void {
  document.documentElement.dataset.live = "";
  const tapped = document.querySelector<HTMLButtonElement>("[data-tapped]");
  delete tapped?.dataset.tapped;
  const typed = [...document.querySelectorAll<Field>("input, textarea")]
    .filter((field) => field.value !== field.defaultValue && field.type !== "checkbox" && field.type !== "radio")
    .map((field) => ({ field, value: field.value }));
  setTimeout(() => {
    for (const { field, value } of typed) tellTyped(field, value);
    // The button that was tapped too early (boot.js) is tapped now.
    tapped?.click();
  });
}

type Field = HTMLInputElement | HTMLTextAreaElement;

/** What was typed, or filled in by the browser, before the page lived: React hears of it as if it were typed now. */
function tellTyped(field: Field, value: string): void {
  // React compares with what was set through the field itself; the prototype's setter passes it by.
  field.value = field.defaultValue;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** An update from above throws a page away that is not hydrated yet, so the stores wait until it is. */
function hydrate(root: HTMLElement): void {
  let stands = false;
  const onFirstPage = () => {
    if (stands) return;
    stands = true;
    live();
    startStores();
    void followReader();
  };
  // The first draw knows of no query, as the one at build did; what it brings is drawn right after.
  const app = (
    <Router ssrPath={location.pathname} ssrSearch="">
      <App onFirstPage={onFirstPage} />
    </Router>
  );
  // In slices: nobody who scrolls or taps meanwhile has to wait for all of it.
  startTransition(() => void hydrateRoot(root, app));
}

async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) throw new Error("The page has no #root to draw into.");
  const first = prepareFirstPage(location.pathname);
  const language = isDrawnHere(root, first) ? matchLanguage(document.documentElement.lang) : undefined;
  if (!language) startStores();
  await Promise.all([setUpTexts(first.texts, language), language && first.ready]);
  if (language) hydrate(root);
  else {
    createRoot(root).render(<App />);
    live();
  }
  registerInBackground();
}

void start();
