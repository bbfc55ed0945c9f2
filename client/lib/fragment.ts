/** The id that an address's `#…` names. Anybody can write a link, so what can't be decoded is taken as it stands, as browsers do. */
export function fragmentId(hash: string): string {
  const id = hash.replace(/^#/, "");
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
