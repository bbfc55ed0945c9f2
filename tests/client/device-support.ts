/** Runs the client's storage modules in a real browser with its real IndexedDB. */
import type { BrowserContext, Page } from "playwright-core";
import type { Rollup } from "vite";
import { build } from "vite";
import { root } from "#tests/support/sources.ts";

const entry = "virtual:device";
/** HTTPS, because browsers offer locks and random ids only to secure pages. */
export const deviceOrigin = "https://device.test";
const modules = [
  "store",
  "consent",
  "conversations",
  "drafts",
  "subscription-cache",
  "feedback-dismissed",
  "form-drafts",
  "form-queue",
  "form-sender",
  "waiting-files",
];

export interface Device {
  store: typeof import("#client/offline/store.ts");
  consent: typeof import("#client/offline/consent.ts");
  conversations: typeof import("#client/offline/conversations.ts");
  drafts: typeof import("#client/offline/drafts.ts");
  subscriptionCache: typeof import("#client/offline/subscription-cache.ts");
  feedbackDismissed: typeof import("#client/offline/feedback-dismissed.ts");
  formDrafts: typeof import("#client/offline/form-drafts.ts");
  formQueue: typeof import("#client/offline/form-queue.ts");
  formSender: typeof import("#client/offline/form-sender.ts");
  waitingFiles: typeof import("#client/offline/waiting-files.ts");
}

declare global {
  var device: Device;
  /** Reads and writes any stored value directly, without the product's checks. */
  var raw: { get(key: string): Promise<unknown>; put(key: string, value: unknown): Promise<void> };
}

const camel = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const entryCode = `
${modules.map((name) => `import * as ${camel(name)} from "/client/offline/${name}.ts";`).join("\n")}
import { get, set } from "idb-keyval";
globalThis.device = { ${modules.map(camel).join(", ")} };
globalThis.raw = { get, put: (key, value) => set(key, value) };
`;

export async function bundleDevice(): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: "error",
    plugins: [
      {
        name: "device-entry",
        resolveId: (id) => (id === entry ? `\0${entry}` : undefined),
        load: (id) => (id === `\0${entry}` ? entryCode : undefined),
      },
    ],
    build: { write: false, minify: false, target: "chrome123", rolldownOptions: { input: entry, output: { format: "es" } } },
  });
  const [chunk] = (result as Rollup.RollupOutput).output;
  return chunk.code;
}

/** Opens a tab that contains only the storage modules. */
export async function openTab(context: BrowserContext, code: string): Promise<Page> {
  const page = await context.newPage();
  await page.route(`${deviceOrigin}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === "/device.js") return route.fulfill({ contentType: "text/javascript", body: code });
    if (pathname === "/")
      return route.fulfill({ contentType: "text/html", body: "<!doctype html><script type=module src=/device.js></script>" });
    return route.fallback();
  });
  await page.goto(`${deviceOrigin}/`);
  await page.waitForFunction(() => "device" in globalThis);
  return page;
}
