/** The rules for searching one's conversations. The server uses them, and the client when it is offline. */
import { conversationLimits } from "./conversations.ts";
import { codePoints } from "./rules.ts";

/** The text around a match. `match` is empty if its position is unknown. */
export interface Excerpt {
  before: string;
  match: string;
  after: string;
}

/** The trimmed query, or undefined if it is too short: one Latin letter would match nearly everything, one Chinese character would not. */
export function searchQuery(value: string): string | undefined {
  const query = value.trim();
  const length = codePoints(query);
  if (length > conversationLimits.searchMax || length < 1) return undefined;
  return length === 1 && query.charCodeAt(0) < 0x2e80 ? undefined : query;
}

/** The start and end of `query` in `text`, in code units, ignoring case. */
export function findMatch(text: string, query: string): { start: number; end: number } | undefined {
  const [folded, wanted] = [text.toLowerCase(), query.toLowerCase()];
  const start = folded.indexOf(wanted);
  if (start < 0) return undefined;
  // Lower-casing can make a text longer (İ); positions in `folded` are then wrong for `text`.
  if (folded.length !== text.length) {
    const exact = text.indexOf(query);
    return exact < 0 ? undefined : { start: exact, end: exact + query.length };
  }
  return { start, end: start + wanted.length };
}

const unitsBefore = 40;
const unitsAfter = 100;

/** Removes half a surrogate pair at either end and puts the text on one line. */
function tidied(piece: string): string {
  return piece.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "").replace(/\s+/g, " ");
}

/** The words around the match, or the first words of the text if the match has no known position. */
export function excerptOf(text: string, query: string): Excerpt {
  const { start, end } = findMatch(text, query) ?? { start: 0, end: 0 };
  const from = Math.max(0, start - unitsBefore);
  const before = tidied(text.slice(from, start));
  const after = tidied(text.slice(end, end + unitsAfter));
  return {
    before: from > 0 ? `…${before.trimStart()}` : before.trimStart(),
    match: tidied(text.slice(start, end)),
    after: end + unitsAfter < text.length ? `${after.trimEnd()}…` : after.trimEnd(),
  };
}
