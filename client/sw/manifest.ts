import type { ManifestOptions } from "vite-plugin-pwa";
import { models } from "#domain/models.ts";

/** The web app manifest: what the home screen and the task switcher show. */
export const manifest = {
  id: "/",
  name: "Tessera",
  short_name: "Tessera",
  description: `One monthly plan, one pool of credits, ${models.length} AI models.`,
  lang: "en",
  dir: "ltr",
  start_url: "/",
  scope: "/",
  display: "standalone",
  background_color: "#f9f6f0",
  theme_color: "#f9f6f0",
  categories: ["productivity", "utilities"],
  icons: [
    { src: "/icons/icon-192.png", sizes: "192x192", type: "image/png", purpose: "any" },
    { src: "/icons/icon-512.png", sizes: "512x512", type: "image/png", purpose: "any" },
    { src: "/icons/maskable-192.png", sizes: "192x192", type: "image/png", purpose: "maskable" },
    { src: "/icons/maskable-512.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
  ],
  shortcuts: [
    { name: "Chat", url: "/ai-models", icons: [{ src: "/icons/icon-192.png", sizes: "192x192", type: "image/png" }] },
    { name: "Credits", url: "/profile", icons: [{ src: "/icons/icon-192.png", sizes: "192x192", type: "image/png" }] },
  ],
} satisfies Partial<ManifestOptions>;
