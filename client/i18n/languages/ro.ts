/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`; account-texts.ts has the others. */
export const texts = import.meta.glob<Record<string, unknown>>(
  [
    "../locales/ro/*.json",
    "!../locales/ro/{seo,account,billing,change,clips,design,doctor,files,invoices,limits,order,pictures,refunds,refusals,sounds,steps,uploads,usage}.json",
  ],
  { import: "default" },
);
