/** Answers navigations: from the server if it responds, otherwise from the cache, otherwise with the page that lists what is kept. */
import { pieceNames, piecePath } from "#client/content/names.ts";
import { paths } from "#client/paths.ts";
import { matchLanguage } from "#domain/languages.ts";
import { findPage, isPageOf, languageOf, limitVisited, notFoundPath, storePage } from "./pages.ts";
import { isDrawnOnDevice } from "./queries.ts";
import { readersLanguage } from "./reader.ts";
import { keepShared } from "./shared.ts";

/** If the server has not responded after this time and the page is cached, the cached page is used. */
const responseTimeoutMs = 5_000;

const framePaths: readonly string[] = [paths.profile, paths.admin, paths.design];

function isFrame(pathname: string): boolean {
  return framePaths.some((path) => pathname === path || pathname.startsWith(`${path}/`));
}

const publicPaths: readonly string[] = [...Object.values(paths), ...pieceNames.map(piecePath)].filter((path) => !isFrame(path));

/** Removes the prompt's text from the request, because it is meant for the composer only. The server only learns that there is one. */
function withoutPrompt(request: Request): Request {
  const url = new URL(request.url);
  if (!url.searchParams.has("prompt")) return request;
  url.searchParams.set("prompt", "");
  return new Request(url, { headers: request.headers, credentials: "same-origin", redirect: "manual" });
}

async function fromServer(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const asked = withoutPrompt(request);
  const response = await fetch(asked);
  if (response.ok) event.waitUntil(keepVisited(new URL(request.url).pathname, response.clone()).catch(() => undefined));
  // A response with its own URL would change the page's address, so copy it without the URL.
  const { body, status, statusText, headers } = response;
  return asked === request || response.type === "opaqueredirect" ? response : new Response(body, { status, statusText, headers });
}

async function keepVisited(path: string, response: Response): Promise<void> {
  const { headers, status } = response;
  if (!(headers.get("content-type") ?? "").includes("text/html")) return;
  const html = await response.text();
  const language = matchLanguage(languageOf(html));
  if (!language || !isPageOf(html, path)) return;
  await storePage(path, language, { html, headers, status }, "visited");
  await limitVisited();
}

function within<Result>(limitMs: number, promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The server did not answer in time.")), limitMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

async function notFound(path: string, language: string): Promise<Response | undefined> {
  const page = await findPage(notFoundPath, language);
  if (!page) return undefined;
  const [head, ...body] = (await page.text()).split("<body");
  const html = [head, ...body.map((part) => part.replaceAll(notFoundPath, () => escaped(path)))].join("<body");
  return new Response(html, { status: 404, headers: page.headers });
}

/** The page to show for an address that is not cached. */
async function standIn({ pathname, origin }: URL, language: string): Promise<Response | undefined> {
  if (isFrame(pathname)) return await findPage(paths.profile, language);
  if (!publicPaths.includes(pathname)) return await notFound(pathname, language);
  if (pathname === paths.offline || !(await findPage(paths.offline, language))) return undefined;
  return Response.redirect(`${origin}${paths.offline}?page=${encodeURIComponent(pathname)}`, 302);
}

export async function answerNavigation(event: FetchEvent): Promise<Response> {
  const url = new URL(event.request.url);
  const language = matchLanguage(url.searchParams.get("lang")) ?? (await readersLanguage());
  const kept = await findPage((await isDrawnOnDevice(url)) ? paths.profile : url.pathname, language);
  let refused: Response | undefined;
  try {
    const response = await (kept ? within(responseTimeoutMs, fromServer(event)) : fromServer(event));
    // 5xx means that the server is starting, or is down behind its proxy.
    if (response.status < 500) return response;
    refused = response;
  } catch {
    // The server can't be reached, so use the cache.
  }
  return kept ?? (await standIn(url, language)) ?? refused ?? Response.error();
}

/** Turns a text shared by another app into a new prompt, and keeps the files for it. */
export async function answerShare(request: Request): Promise<Response> {
  const form = await request.formData();
  await keepShared(form.getAll("files").filter((file) => file instanceof File && file.size > 0) as File[]);
  const texts = ["title", "text", "url"].map((name) => String(form.get(name) ?? "").trim());
  // Many apps repeat themselves: the address is also in the text, or the title is the text's beginning.
  const lines = [...new Set(texts)].filter((text, _, all) => text !== "" && !all.some((other) => other !== text && other.includes(text)));
  const query = new URLSearchParams({ prompt: lines.join("\n") });
  return Response.redirect(`${new URL(request.url).origin}${paths.aiModels}?${query}`, 303);
}
