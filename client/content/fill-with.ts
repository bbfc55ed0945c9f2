import { formatNumber } from "#client/lib/format.ts";
import type { Figures } from "./figure.ts";
import { fillIn } from "./figure.ts";
import type { Piece } from "./piece.ts";

type Fill = (text: string) => string;

/** Fills these numbers into a piece's texts, formatted in the piece's language. */
export function fillWith(figures: Figures, { language, creditForms }: Pick<Piece, "language" | "creditForms">): Fill {
  const plurals = new Intl.PluralRules(language);
  const credits = (count: number) => {
    const form = creditForms[plurals.select(count)] ?? creditForms.other ?? "";
    return form.replace("{{formatted}}", formatNumber(count, language));
  };
  return (text) => fillIn(figures, text, { language, credits });
}
