/** Whether everything that can be used on a page can be reached. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { root } from "./sources.ts";

const look = readFileSync(path.join(root, "tests/support/in-reach.js"), "utf8");

/**
 * The controls that something covers, wherever the page is scrolled; those within `still` (a selector), such as a chat's composer, also
 * where they are now. And by how much the page is too wide. Controls behind an open dialog don't count.
 */
export async function coveredControls(page: Page, still: string | null = null): Promise<string[]> {
  return page.evaluate<string[]>(`(() => { ${look}; return window.covered(${JSON.stringify(still)}); })()`);
}
