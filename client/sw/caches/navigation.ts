/** How an address is answered: by the server while it answers, else by what is kept, else by the page that says what is. */
import { pieceNames, piecePath } from "#client/content/names.ts";
import { paths } from "#client/paths.ts";
import { matchLanguage } from "#domain/languages.ts";
import { findPage, isPageOf, languageOf, limitVisited, notFoundPath, storePage } from "./pages.ts";
import { isDrawnOnDevice } from "./queries.ts";
import { readersLanguage } from "./reader.ts";

/** A line that does not answer for so long counts as none, where something is kept. */
const patienceMs = 5_000;

const framePaths: readonly string[] = [paths.profile, paths.admin, paths.design];
const publicPaths: readonly string[] = [...Object.values(paths), ...pieceNames.map(piecePath)].filter((path) => !framePaths.includes(path));

/** What is shared or tried is for the composer: that there is a prompt travels to the server, the prompt does not. */
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
  // A response that names another address would give it to the page.
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
    const timer = setTimeout(() => reject(new Error("The server takes too long.")), limitMs);
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

/** Stands in for an address that nothing is kept of. */
async function standIn({ pathname, origin }: URL, language: string): Promise<Response | undefined> {
  if (framePaths.includes(pathname)) return await findPage(paths.profile, language);
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
    const response = await (kept ? within(patienceMs, fromServer(event)) : fromServer(event));
    // 5xx means that the server is starting, or gone behind its proxy.
    if (response.status < 500) return response;
    refused = response;
  } catch {
    // Not to be reached: what is kept answers.
  }
  return kept ?? (await standIn(url, language)) ?? refused ?? Response.error();
}

/** Another app shares a text: it becomes a new prompt. */
export async function answerShare(request: Request): Promise<Response> {
  const form = await request.formData();
  const texts = ["title", "text", "url"].map((name) => String(form.get(name) ?? "").trim());
  // Many apps say the same twice: the address inside the text, the title as its first words.
  const lines = [...new Set(texts)].filter((text, _, all) => text !== "" && !all.some((other) => other !== text && other.includes(text)));
  const query = new URLSearchParams({ prompt: lines.join("\n") });
  return Response.redirect(`${new URL(request.url).origin}${paths.aiModels}?${query}`, 303);
}
