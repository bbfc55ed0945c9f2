import type { FormFields } from "#client/offline/form-drafts.ts";
import { isContactCategory } from "#domain/contact.ts";

const names = ["category", "subject", "message"] as const;

/** Reads fields from a link to the form, such as the support widget's: `?category=&subject=&message=`. */
export function readGiven(search: string): Partial<FormFields> {
  const query = new URLSearchParams(search);
  const given = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""])) as Record<(typeof names)[number], string>;
  if (!isContactCategory(given.category)) given.category = "";
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

/** The address without these fields, so that a reload doesn't fill them in again. */
export function withoutGiven(path: string, search: string): string {
  const query = new URLSearchParams(search);
  for (const name of names) query.delete(name);
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Merges the link's fields into the form. A message is appended to the typed text, so that nothing typed is lost. */
export function mergeGiven(typed: FormFields, given: Partial<FormFields>): Partial<FormFields> {
  const { message = "", ...rest } = given;
  if (message === "" || typed.message.includes(message)) return rest;
  if (typed.message.trim() === "") return { ...rest, message };
  const { subject, ...category } = rest;
  return { ...category, ...(subject && typed.subject === "" ? { subject } : {}), message: `${typed.message}\n\n${message}` };
}
