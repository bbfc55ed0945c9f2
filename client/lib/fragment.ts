/** The id in an address's `#…`. A link can contain anything, so an id that can't be decoded is used as it is, as browsers do. */
export function fragmentId(hash: string): string {
  const id = hash.replace(/^#/, "");
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
