/** The namespaces that no public page needs at first, in every language: a visitor of such a page need not download their list. */
export const accountTexts = import.meta.glob<Record<string, unknown>>(
  "./locales/*/{access,account,admin,billing,change,clips,design,dialogs,doctor,figures,files,inbox,invoices,limits,notice,order,outcomes,pictures,refunds,refusals,settings,sounds,steps,uploads,usage,words}.json",
  { import: "default" },
);
