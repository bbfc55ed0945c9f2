/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`. */
export const texts = import.meta.glob<Record<string, unknown>>(["../locales/es/*.json", "!../locales/es/seo.json"], { import: "default" });
