import { kept } from "./format.ts";

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;

/** "1.4 MB", in powers of 1,000, as devices show their storage. */
export function formatBytes(bytes: number, language: string): string {
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const unit = byteUnits[power] ?? "byte";
  // In English the short form of several bytes is "byte".
  const unitDisplay = power ? "short" : "long";
  const options: Intl.NumberFormatOptions = { style: "unit", unit, unitDisplay, maximumFractionDigits: power > 1 ? 1 : 0 };
  return kept(`${unit} ${language}`, () => new Intl.NumberFormat(language, options)).format(bytes / 1000 ** power);
}
