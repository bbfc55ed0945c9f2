/** Copies `value` with `fill` applied to every string in it. */
export function withFigures(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((inner) => withFigures(inner, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withFigures(inner, fill)]));
}
