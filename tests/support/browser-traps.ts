/** Detects in a browser when a text is more than text: it ran a script, sent a request to another site, or became an element that could. */
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { root } from "./sources.ts";

export interface Traps {
  /** What happened in any page or frame of the context since it was opened. */
  readonly caught: readonly string[];
}

/** `ownOrigin` is the only one that pages may ask. What goes elsewhere is counted and cut off. */
export async function setTraps(context: BrowserContext, ownOrigin: string): Promise<Traps> {
  const caught: string[] = [];
  await context.exposeBinding("trapped", (_source, what: string) => {
    caught.push(what);
  });
  await context.addInitScript({ path: path.join(root, "tests/support/browser-traps.js") });
  const isForeign = (url: URL) => !["data:", "blob:", "about:"].includes(url.protocol) && url.origin !== ownOrigin;
  await context.route(isForeign, async (route) => {
    caught.push(`asked ${route.request().url()}`);
    await route.abort();
  });
  context.on("dialog", (dialog) => {
    caught.push(`a dialog said ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("page", (page) => {
    page.on("popup", () => caught.push("a window was opened"));
    page.on("download", () => caught.push("a download began"));
    page.on("pageerror", (error) => caught.push(`an error was thrown: ${error.message}`));
  });
  return { caught };
}

/** The elements, addresses and links in the page that could run or load something, or lead elsewhere unmarked. */
export async function hazardsIn(page: Page): Promise<string[]> {
  return page.evaluate("window.hazards()");
}
