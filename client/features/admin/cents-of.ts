/** "19.99" and "19,99" → 1999. Undefined for anything else. */
export function centsOf(text: string): number | undefined {
  const [, whole, part = ""] = /^(\d{1,6})(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : Number(whole) * 100 + Number(part.padEnd(2, "0"));
}
