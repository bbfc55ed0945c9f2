/**
 * The path, query and fragment that an address brought along as one of its parameters, or null where it would lead to
 * another site: anybody can write a link.
 */
export function ownPath(wanted: string | null): string | null {
  if (!wanted?.startsWith("/") || !URL.canParse(wanted, location.origin)) return null;
  // Read as the browser will read it: it drops tabs and line breaks, and takes a backslash for a slash.
  const { origin, pathname, search, hash } = new URL(wanted, location.origin);
  // "/.//elsewhere" is a path of this site whose dots are gone once it is read: what is left would be another site's.
  return origin === location.origin && !pathname.startsWith("//") ? pathname + search + hash : null;
}
