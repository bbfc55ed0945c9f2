/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`. */
export const texts = import.meta.glob<Record<string, unknown>>(["../locales/it/*.json", "!../locales/it/seo.json"], { import: "default" });
