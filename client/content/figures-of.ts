import { formatNumber } from "#client/lib/format.ts";
import type { FigureFormat } from "./figures.ts";
import { fillFigures } from "./figures.ts";
import type { Piece } from "./piece.ts";

type Fill = (text: string) => string;

/** Fills in the numbers of a piece's texts, formatted in the piece's language. */
export function figuresOf({ language, creditForms }: Pick<Piece, "language" | "creditForms">): Fill {
  const plurals = new Intl.PluralRules(language);
  const credits = (count: number) => {
    const form = creditForms[plurals.select(count)] ?? creditForms.other ?? "";
    return form.replace("{{formatted}}", formatNumber(count, language));
  };
  const format: FigureFormat = { language, credits };
  return (text) => fillFigures(text, format);
}
