/** One chunk for each namespace, fetched when a screen first asks for it. Prerendering alone needs `seo`; account-texts.ts has the others. */
export const texts = import.meta.glob<Record<string, unknown>>(
  [
    "../locales/pl/*.json",
    "!../locales/pl/{seo,access,account,admin,billing,change,clips,design,doctor,figures,files,inbox,invoices,limits,notice,order,outcomes,pictures,refunds,refusals,settings,sounds,steps,uploads,usage,words}.json",
  ],
  { import: "default" },
);
