/** Looks for violations of accessibility with axe, in the page as it is now. */
import axe from "axe-core";
import type { Page } from "playwright-core";

export const themes = ["light", "dark"] as const;

/** Another theme changes nothing but colours. */
const colourRules = ["color-contrast", "link-in-text-block"];

interface Scan {
  /** The first scheme is checked with all rules, the others with those about colours; without it the page keeps its theme. */
  colorSchemes?: readonly (typeof themes)[number][];
  /** A selector, if only this part of the page is looked at. */
  within?: string;
}

async function run(page: Page, where: string, within: string | undefined, rules: readonly string[] | undefined): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) };
  const target = within === undefined ? "document" : JSON.stringify(within);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${target}, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${where}: ${id} at ${String(target)}, ${html}`));
}

/** One line for each violation; `where` says what the page shows. */
export async function violationsOn(page: Page, where: string, { colorSchemes, within }: Scan = {}): Promise<string[]> {
  if (!colorSchemes) return run(page, where, within, undefined);
  const found: string[] = [];
  for (const [index, colorScheme] of colorSchemes.entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(...(await run(page, `${where}, ${colorScheme}`, within, index > 0 ? colourRules : undefined)));
  }
  return found;
}
