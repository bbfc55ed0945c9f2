/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`. */
export const texts = import.meta.glob<Record<string, unknown>>(["../locales/zh/*.json", "!../locales/zh/seo.json"], { import: "default" });
