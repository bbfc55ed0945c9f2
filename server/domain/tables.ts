import { validate as isUuid } from "uuid";

/** If more rows than this match a search, only the first by the alphabet are looked through. */
export const mostFound = 250;

/** The largest page of one of the panel's tables, and how many of its rows can be acted on at once. */
export const mostRows = 100;

/**
 * The panel's lists, each with the filters that a saved view keeps. A view keeps no typed search and no filter by colleague. So it contains
 * nobody's address or id, and nothing has to be removed from it when somebody deletes their account.
 */
const keptFilters = {
  audit: ["action"],
  campaigns: ["state"],
  events: ["status", "type"],
  inbox: ["category", "language", "owner", "status"],
  jobs: ["job", "state"],
  mails: ["from", "state", "template", "to"],
  models: ["category", "provider", "state"],
  people: ["state"],
  "person-answers": ["filterReason", "status"],
  "person-audit": ["action"],
  "person-credits": ["direction", "kind"],
  "person-invoices": ["state"],
  "person-mails": ["template"],
  "refused-mails": ["state"],
  team: ["role"],
  "waiting-jobs": ["job"],
} as const;
export type ListName = keyof typeof keptFilters;
/** What is downloaded as a file: a list, or the figures of the overview. */
export type DownloadedList = ListName | "figures";
export const listNames = Object.keys(keptFilters) as ListName[];

/** In characters. */
export const viewLimits = { nameMax: 40, searchMax: 1_000 } as const;
/** The most views that somebody saves of a list. */
export const mostViews = 20;

const words = /^[\w.,-]{1,300}$/;

/** What a view keeps of a list's address, always in the same order: filters, order and columns. */
export function viewOf(list: ListName, search: string): string {
  const asked = new URLSearchParams(search);
  const kept = [...keptFilters[list], "columns", "order", "sort"].flatMap((name): [string, string][] => {
    const value = asked.get(name) ?? "";
    return words.test(value) && !isUuid(value) ? [[name, value]] : [];
  });
  return new URLSearchParams(kept).toString();
}
