/** The namespaces that no public page needs at first, in every language: a visitor of such a page need not download their list. */
export const accountTexts = import.meta.glob<Record<string, unknown>>(
  "./locales/*/{account,billing,change,clips,design,doctor,files,invoices,limits,order,pictures,refunds,refusals,sounds,steps,uploads,usage}.json",
  { import: "default" },
);
