/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`. */
export const texts = import.meta.glob<Record<string, unknown>>(["../locales/ru/*.json", "!../locales/ru/seo.json"], { import: "default" });
