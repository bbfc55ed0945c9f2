import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig, minify } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import { contentPlugin } from "./content-plugin.ts";
import { manifest } from "./sw/manifest.ts";

const api = process.env.API_URL ?? "http://127.0.0.1:3000";

/**
 * Puts the language into the file names of texts and pieces, so that the service worker can precache what every reader needs
 * and fetch the rest when it is used.
 */
function chunkFileNames({ facadeModuleId }: { facadeModuleId?: string | null }): string {
  const [, language, index] = facadeModuleId?.match(/(?:locales\/(\w+)\/[\w-]+\.json|i18n\/languages\/(\w+)\.ts)$/) ?? [];
  const [, written, piece, form] = facadeModuleId?.match(/content\/(\w+)\/([\w-]+)\.md\?(piece|slots)$/) ?? [];
  if (piece) return `assets/${form === "slots" ? "on-use-models" : "piece"}-${written}-${piece}-[hash:7].js`;
  // Only a few answers or pages need these. The service worker keeps them once they were fetched (sw/caches/release.ts).
  if (/(features\/chat\/(code-colours|formula-drawing)|content\/fill-models)\.ts$/.test(facadeModuleId ?? ""))
    return "assets/on-use-[name]-[hash:7].js";
  if (index) return `assets/locale-${index}-index-[hash:7].js`;
  return language ? `assets/locale-${language}-[name]-[hash:7].js` : "assets/[name]-[hash:7].js";
}

/** Style chunks load in any order, and the first mention of a layer fixes its rank. So every file starts with the complete order. */
function layerOrderFirst(): Plugin {
  return {
    name: "layer-order-first",
    enforce: "post",
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "asset" && file.fileName.endsWith(".css")) {
          file.source = `@layer reset,tokens,base,primitives,components,pages;${file.source}`;
        }
      }
    },
  };
}

/**
 * Replaces Lucide's icon component with a smaller one (components/create-icon.ts), and keeps only the drawings of its icons: names and
 * React keys hardly compress.
 */
function plainIcons(): Plugin {
  return {
    name: "plain-icons",
    enforce: "pre",
    resolveId: (source) => (source.endsWith("/createLucideIcon.mjs") ? path.join(import.meta.dirname, "components/create-icon.ts") : null),
    transform: (code, id) =>
      /lucide-react\/dist\/esm\/icons\/[\w-]+\.mjs$/.test(id)
        ? { code: code.replaceAll(/,\s*key: "\w+"|name: "[\w-]+",\s*size: 24,|^__iconData\.node;$/gm, ""), map: null }
        : null,
  };
}

/**
 * Builds the script that blocks the first paint. Its name contains a hash of its content, so that a page never runs another
 * release's file. In development it is served from the root.
 */
function bootFile(): Plugin {
  let fileName = "";
  return {
    name: "boot-file",
    apply: ({ build }, { command }) => command === "build" && !build?.ssr,
    async buildStart() {
      const file = path.join(import.meta.dirname, "boot.js");
      const { code } = await minify("boot.js", await readFile(file, "utf8"));
      fileName = `assets/boot-${createHash("sha256").update(code).digest("base64url").slice(0, 8)}.js`;
      this.addWatchFile(file);
      this.emitFile({ type: "asset", fileName, source: code });
    },
    transformIndexHtml: (html) => html.replace("/boot.js", `/${fileName}`),
  };
}

/** Puts code that several pages share into a few files: every additional file costs a request and compresses worse. */
const groups = [
  { name: "frame", tags: ["$initial" as const] },
  shared(
    "pieces",
    /features\/(reading\/(facts|dates|inline-text|illustration|prepared-part|structured-data|illustrations\/stones\/[\w-]+)|kept\/save-slot)\.(tsx?|module\.css)$|kept\/save-control\.module\.css$/,
  ),
  shared("formats", /(lib\/(use-format|format|own-path|shown-edition)|i18n\/problem-text|domain\/(plans|units))\.ts$/),
  shared("models", /(lib\/offered-models|domain\/models)\.ts$/),
  shared("chat-icons", /lucide-react\/dist\/esm\/icons\/(arrow-up|arrow-down|square|plus)\.mjs$/),
  shared("queue", /(features\/contact\/form-queue\.tsx|offline\/(sent-forms|use-form-queue)\.ts)$/),
  shared("kept", /(features\/kept\/kept-store|offline\/kept-pages|lib\/format-bytes)\.ts$/),
  shared("dialogs", /(components\/(dialog|empty-state)\.(tsx|module\.css)|lucide-react\/dist\/esm\/icons\/(trash|trash-2)\.mjs)$/),
  shared(
    "controls",
    /(components\/(link-item|section|badge|segmented)\.(tsx|module\.css)|lucide-react\/dist\/esm\/icons\/(arrow-right|check|copy|chevron-down)\.mjs)$/,
  ),
];

function shared(name: string, test: RegExp) {
  return { name, test, includeDependenciesRecursively: false };
}

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsDir: "assets",
    // The CSP allows no `data:` in style-src and script-src, and a separate file can be cached for ever.
    assetsInlineLimit: 0,
    // Every document lists its scripts (client/build/document.ts), and links prefetch their page. Of what a dynamic import needs besides
    // its chunk, only the styles must be listed in the scripts.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, needed, { hostType }) => (hostType === "js" ? needed.filter((file) => file.endsWith(".css")) : needed),
    },
    target: ["chrome123", "firefox128", "safari17.5"],
    rolldownOptions: {
      output: { chunkFileNames, codeSplitting: { groups } },
    },
  },
  plugins: [
    react(),
    contentPlugin(),
    plainIcons(),
    layerOrderFirst(),
    bootFile(),
    VitePWA({
      strategies: "injectManifest",
      srcDir: "sw",
      filename: "service-worker.ts",
      injectRegister: false,
      manifest,
      includeManifestIcons: false,
      injectManifest: {
        rollupFormat: "iife",
        // Everything with a hashed name. The service worker decides which files it fetches at once and which when they are used
        // (sw/caches/release.ts).
        globPatterns: ["assets/*.{js,css}", "assets/spectral-*-500*.woff2", "icons/icon-192.png", "favicon.svg"],
      },
    }),
  ],
  server: { proxy: { "/api": { target: api, ws: true } } },
});
