import { paths } from "#client/paths.ts";

/** The contact form with what was asked already in it. */
export function contactAddress(message: string): string {
  const query = new URLSearchParams({ category: "support", ...(message && { message }) });
  return `${paths.contact}?${query}`;
}
