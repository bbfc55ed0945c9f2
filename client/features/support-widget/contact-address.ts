import { paths } from "#client/paths.ts";

/** The address of the contact form with the question filled in. */
export function contactAddress(message: string): string {
  const query = new URLSearchParams({ category: "support", ...(message && { message }) });
  return `${paths.contact}?${query}`;
}
