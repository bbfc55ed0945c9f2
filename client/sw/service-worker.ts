/**
 * Makes the product available offline: this release's shell, the pages of the reader's languages, and the pages they have read
 * or saved. Requests to `/api` never pass through here. A missing asset stays a 404: only navigations are answered with HTML. A
 * waiting version takes over only when the person accepts it.
 */

import { dropOldFiles } from "#client/offline/waiting-files.ts";
import { matchLanguage } from "#domain/languages.ts";
import { answerAsset, keepAssets } from "./caches/assets.ts";
import { dropEarlier, noteEarlier } from "./caches/earlier.ts";
import { keepLanguage } from "./caches/languages.ts";
import { answerNavigation, answerShare } from "./caches/navigation.ts";
import { carryOver, hasPage, keepPage, limitVisited, listPages, removePages } from "./caches/pages.ts";
import { noteQueries } from "./caches/queries.ts";
import { firstLanguage, rememberLanguage } from "./caches/reader.ts";
import { isAsset, shellFiles } from "./caches/release.ts";
import { dropShared } from "./caches/shared.ts";
import type { Replies, WorkerMessage } from "./messages.ts";
import { sharePath } from "./messages.ts";

declare const self: ServiceWorkerGlobalScope;

/** Addresses that are not pages; other programs request them. */
const notPages = /^\/(api|assets|icons|og|screenshots)\/|^\/(healthz|readyz|metrics)$|\.\w+$/;

async function install(): Promise<void> {
  await Promise.all([keepAssets(shellFiles), noteQueries()]);
  const language = await firstLanguage();
  await rememberLanguage(language);
  await keepLanguage(language);
  await carryOver();
}

/** The browser answers no page before this has ended, so slower work is done with the first page. */
async function activate(): Promise<void> {
  await noteEarlier();
  await self.clients.claim();
}

async function keepReadersLanguage(tag: string): Promise<void> {
  const language = matchLanguage(tag);
  if (!language) return;
  await rememberLanguage(language);
  await keepLanguage(language);
}

async function save(saved: readonly string[], language: string): Promise<Replies["SAVE"]> {
  const outcome: Replies["SAVE"] = { saved: [], failed: [] };
  for (const path of saved) {
    const kept = await keepPage(path, language, "saved").catch(() => false);
    (kept ? outcome.saved : outcome.failed).push(path);
  }
  return outcome;
}

async function noteVisit(path: string, language: string): Promise<void> {
  if (notPages.test(path) || (await hasPage(path, language))) return;
  await keepPage(path, language, "visited");
  await limitVisited();
}

async function answer(message: WorkerMessage): Promise<Replies[keyof Replies] | undefined> {
  switch (message.type) {
    case "SKIP_WAITING":
      await self.skipWaiting();
      return undefined;
    case "LANGUAGE":
      await keepReadersLanguage(message.language);
      await dropEarlier();
      return undefined;
    case "VISITED":
      await noteVisit(message.path, message.language);
      return undefined;
    case "SAVE":
      return await save(message.paths, message.language);
    case "REMOVE":
      await removePages(({ path, keeping }) => path === message.path && keeping !== "base");
      return await listPages();
    case "CLEAR":
      await removePages(({ keeping }) => keeping !== "base");
      return await listPages();
    case "LIST":
      return await listPages();
  }
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    if (request.method === "POST" && pathname === sharePath) event.respondWith(answerShare(request));
    if (request.method !== "GET" || notPages.test(pathname)) return;
    event.respondWith(answerNavigation(event));
    event.waitUntil(Promise.all([dropEarlier(), dropShared(), dropOldFiles()]));
  } else if (request.method === "GET" && isAsset(pathname)) {
    event.respondWith(answerAsset(event));
  }
});

self.addEventListener("message", (event) => {
  const [port] = event.ports;
  // A broken connection is not an error here: the next page asks again.
  const work = answer(event.data as WorkerMessage).catch(() => undefined);
  event.waitUntil(work.then((reply) => port?.postMessage(reply)));
});
