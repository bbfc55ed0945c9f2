/** A chunk for each namespace, fetched when a screen first needs it. Only prerendering needs `seo`; account-texts.ts has the other ones. */
export const texts = import.meta.glob<Record<string, unknown>>(
  [
    "../locales/zh/*.json",
    "!../locales/zh/{seo,access,account,admin,billing,change,clips,design,dialogs,doctor,figures,files,inbox,invoices,limits,notice,order,outcomes,pictures,refunds,refusals,settings,sounds,steps,uploads,usage,words}.json",
  ],
  { import: "default" },
);
