/** Wakes up sleeping content (lib/sleep.ts) when a reader or the device needs it, and opens its links. */
import i18next from "i18next";
import { navigate } from "wouter/use-browser-location";
import { isSleeping } from "./early-input.ts";
import { sessionStore } from "./lib/session-store.ts";
import { fallAsleep, wakeUp } from "./lib/sleep.ts";
import { untilIdle, untilRested } from "./lib/until-idle.ts";
import type { PageRoute } from "./page-route.tsx";
import { isPage, loadHere } from "./routes.tsx";

/** What needs code to work. `data-wakes` marks it where it is none of the browser's own controls. */
const controls = "button, input, select, textarea, label, [data-wakes]";

function opensHere(event: MouseEvent, link: HTMLAnchorElement): boolean {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  return isPlain && link.target === "" && link.origin === location.origin && link.pathname !== location.pathname && isPage(link.pathname);
}

/** The nearest element of that kind around the event's target, if it sleeps. */
function sleepingTarget<Found extends Element>({ target }: Event, selector: string): Found | null {
  return target instanceof Element && isSleeping(target) ? target.closest<Found>(selector) : null;
}

/** Fetches the content's code, so that it wakes up without waiting for the network. */
function fetchCode(): void {
  const files = document.querySelector<HTMLMetaElement>('meta[name="content-scripts"]')?.content.split(" ") ?? [];
  for (const href of files) {
    if (document.querySelector(`link[href="${href}"]`)) continue;
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", crossOrigin: "", href }));
  }
}

let composing = false;

function watchReader(signal: AbortSignal): void {
  const options = { capture: true, passive: true, signal };
  const onReach = (event: Event) => {
    if (sleepingTarget(event, controls)) void wakeUp();
  };
  for (const sign of ["scroll", "touchstart"]) addEventListener(sign, fetchCode, { ...options, once: true });
  addEventListener("pointerdown", onReach, options);
  addEventListener("focusin", onReach, options);
  // A pointer arrives before it clicks and a key before it has an effect, and computers with a mouse or a keyboard are fast enough.
  const onDesktop = (event: PointerEvent) => {
    if (event.pointerType === "mouse" && sleepingTarget(event, "*")) void wakeUp();
  };
  addEventListener("pointerover", onDesktop, options);
  addEventListener("keydown", () => void wakeUp(), options);
  const onComposition = ({ type }: Event) => {
    composing = type === "compositionstart";
  };
  for (const step of ["compositionstart", "compositionend"]) addEventListener(step, onComposition, options);
  // The router's links (wouter) do the same: the browser doesn't load a new document.
  const onClick = (event: MouseEvent) => {
    const link = sleepingTarget<HTMLAnchorElement>(event, "a[href]");
    if (!link || !opensHere(event, link)) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  };
  addEventListener("click", onClick, { capture: true, signal });
}

/** Resolves once no word is being composed, for example in Japanese: hydration would break it off. */
function untilComposed(): Promise<void> {
  if (!composing) return Promise.resolve();
  return new Promise((resolve) => addEventListener("compositionend", () => resolve(), { capture: true, once: true }));
}

/**
 * Loads what the content needs. Without a connection it sleeps on, so that what was typed into it stays; any other failure shows when it is
 * hydrated. The texts come last, because i18next asks for them only once.
 */
async function prepare(first: PageRoute): Promise<void> {
  fetchCode();
  while (!(await loadHere(first)) && !navigator.onLine) await new Promise((resolve) => addEventListener("online", resolve, { once: true }));
  await i18next.loadNamespaces(first.texts);
  await untilComposed();
}

/** Puts the content to sleep; `onOver` is called once it is hydrated or has made way for another page. Call before hydration. */
export function sleepUntilNeeded(first: PageRoute, onOver: () => void): void {
  const content = document.querySelector<HTMLElement>("#content");
  if (!content) return;
  const stop = new AbortController();
  const { sleeps, stirs } = first;
  fallAsleep({
    prepare: () => prepare(first),
    brief: sleeps === "briefly",
    onOver: () => {
      stop.abort();
      unsubscribe();
      delete content.dataset.asleep;
      onOver();
    },
  });
  content.dataset.asleep = "";
  watchReader(stop.signal);
  if (sleeps === "briefly") void untilRested().then(wakeUp);
  if (stirs) void untilIdle().then(async () => (await stirs()) && wakeUp());
  const unsubscribe = sessionStore.subscribe(({ user }) => user && void wakeUp());
}
