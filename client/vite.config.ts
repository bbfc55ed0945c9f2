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

/** Texts and pieces bear their language in the name, so that the precache can take what every reader needs and leave the rest for use. */
function chunkFileNames({ facadeModuleId }: { facadeModuleId?: string | null }): string {
  const [, language, index] = facadeModuleId?.match(/(?:locales\/(\w+)\/[\w-]+\.json|i18n\/languages\/(\w+)\.ts)$/) ?? [];
  const [, written, piece] = facadeModuleId?.match(/content\/(\w+)\/([\w-]+)\.md\?piece$/) ?? [];
  if (piece) return `assets/piece-${written}-${piece}-[hash].js`;
  // Fetched by the few answers that need it: the service worker keeps it from then on (sw/caches/release.ts).
  if (/features\/chat\/(code-colours|formula-drawing)\.ts$/.test(facadeModuleId ?? "")) return "assets/on-use-[name]-[hash].js";
  if (index) return `assets/locale-${index}-index-[hash].js`;
  return language ? `assets/locale-${language}-[name]-[hash].js` : "assets/[name]-[hash].js";
}

/**
 * Chunks of styles arrive in any order, and the first mention of a layer settles its rank: so every file opens with the
 * whole order.
 */
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

/** Lucide's icons keep their drawings and lose what draws them (components/create-icon.ts). */
function plainIcons(): Plugin {
  return {
    name: "plain-icons",
    enforce: "pre",
    resolveId: (source) => (source.endsWith("/createLucideIcon.mjs") ? path.join(import.meta.dirname, "components/create-icon.ts") : null),
  };
}

/**
 * What holds up the first paint: small, and named by its content, so that a page never runs another release's. Served from
 * the root while developing.
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

/** What several pages share, in few files: each of its own costs a request and is compressed without its neighbours. */
const groups = [
  { name: "frame", tags: ["$initial" as const] },
  shared(
    "pieces",
    /features\/reading\/(facts|dates|inline-text|illustration|prepared-part|structured-data|illustrations\/stones\/[\w-]+)\.(tsx?|module\.css)$/,
  ),
  shared("controls", /(components\/link-item\.(tsx|module\.css)|lucide-react\/dist\/esm\/icons\/(arrow-right|check|copy)\.mjs)$/),
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
    // The policy has no `data:` in style-src or script-src, and a file of its own can be cached for good.
    assetsInlineLimit: 0,
    // A document names all its scripts (client/build/document.ts), and links fetch their page before it is asked for: of what
    // an import needs beside its chunk, only styles have to be listed in the scripts themselves.
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
        // All that hashed names tell apart; which of it is fetched at once and which on use, the worker says (sw/caches/release.ts).
        globPatterns: ["assets/*.{js,css}", "assets/spectral-*-500*.woff2", "icons/icon-192.png", "favicon.svg"],
      },
    }),
  ],
  server: { proxy: { "/api": { target: api, ws: true } } },
});
