/**
 * The path, query and fragment of an address that was passed as a parameter. Returns null if it would lead to another site,
 * because anybody can write such a link.
 */
export function ownPath(wanted: string | null): string | null {
  if (!wanted?.startsWith("/") || !URL.canParse(wanted, location.origin)) return null;
  // Parsed as the browser will parse it: it drops tabs and line breaks, and reads a backslash as a slash.
  const { origin, pathname, search, hash } = new URL(wanted, location.origin);
  // "/.//elsewhere" has our origin, but parsing removes the dot, and the remaining "//elsewhere" would lead to another site.
  return origin === location.origin && !pathname.startsWith("//") ? pathname + search + hash : null;
}
