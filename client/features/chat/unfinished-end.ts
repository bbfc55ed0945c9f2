/**
 * Completes the end of a text that is still growing or was cut off, where an unclosed marker would be visible. Emphasis and code are
 * closed; a link whose address has not arrived yet is shown as its text.
 */
import { formulaAt, isBegun, unfinishedFormula } from "./formulas.ts";

/** Where the last block that can contain emphasis begins: after a blank line, or at a line that starts a new block. */
function startOfLastBlock(text: string): number {
  const lines = /\n(?=[ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\|))/g;
  let start = 0;
  for (const match of text.matchAll(lines)) start = match.index + 1;
  const row = text.slice(start);
  // In a table's row, the cell that is being written.
  if (!/^[ \t]*\|/.test(row)) return start;
  return start + row.trimEnd().replace(/\|$/, " ").lastIndexOf("|") + 1;
}

/** Whether the text ends inside fenced code, which is shown as it is. */
function endsInFence(text: string): boolean {
  let fence = "";
  for (const [, signs = "", rest = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm)) {
    if (fence === "") fence = signs;
    else if (signs[0] === fence[0] && signs.length >= fence.length && rest.trim() === "") fence = "";
  }
  return fence !== "";
}

interface Open {
  /** The marker that closes it. */
  signs: string;
  /** Where it was opened. */
  at: number;
}

const wordCharacter = /[\p{L}\p{N}]/u;

/** How often the character at `at` is repeated. */
function runAt(text: string, at: number): number {
  let length = 1;
  while (text[at + length] === text[at]) length += 1;
  return length;
}

function closeOrOpen(open: Open[], text: string, at: number, length: number): void {
  const sign = text[at] ?? "";
  const before = text[at - 1] ?? " ";
  const after = text[at + length] ?? " ";
  const insideWord = sign === "_" && wordCharacter.test(before) && wordCharacter.test(after);
  if (insideWord || (sign === "~" && length !== 2)) return;
  let rest = length;
  if (/\S/.test(before)) {
    // If three signs are opened together (***), the inner pair closes first.
    const [outer, inner] = open.slice(-2);
    if (rest === 2 && outer && inner && outer.at === inner.at && outer.signs[0] === sign) open.splice(-2, 2, inner, outer);
    while (rest > 0 && open.at(-1)?.signs[0] === sign && (open.at(-1)?.signs.length ?? 0) <= rest) rest -= open.pop()?.signs.length ?? rest;
  }
  if (rest > 0 && /\S/.test(after)) {
    for (const signs of rest >= 3 ? [sign.repeat(2), sign] : [sign.repeat(rest)]) open.push({ signs, at });
  }
}

/** For a bracket at `at`: where its link ends or, if the link is not complete yet, what to show of it. */
function linkAt(text: string, at: number): { end: number } | { shown: string } | undefined {
  const close = text.indexOf("]", at + 1);
  if (close < 0) return { shown: text.slice(at + 1) };
  if (text[close + 1] !== "(") return undefined;
  const end = text.indexOf(")", close + 2);
  return end < 0 ? { shown: text.slice(at + 1, close) } : { end };
}

/** The length of a unit at `at` that opens nothing: a formula, an escaped sign, inline code, a link. */
function passedAt(text: string, at: number): number {
  const formula = formulaAt(text, at);
  if (formula) return formula.raw.length;
  const sign = text[at];
  if (sign === "\\") return 2;
  if (sign === "`") {
    const length = runAt(text, at);
    const end = text.indexOf("`".repeat(length), at + length);
    return end < 0 ? 0 : end + length - at;
  }
  const link = sign === "[" ? linkAt(text, at) : undefined;
  return link && "end" in link ? link.end + 1 - at : 0;
}

/** The text with the construct at `at` closed or left out if its end is missing. */
function brokenOffAt(text: string, at: number): string | undefined {
  if (isBegun(text, at) && !formulaAt(text, at)) return text.slice(0, at);
  const sign = text[at];
  if (sign === "`" && passedAt(text, at) === 0) return `${text.trimEnd()}${"`".repeat(runAt(text, at))}`;
  const link = sign === "[" ? linkAt(text, at) : undefined;
  return link && "shown" in link ? text.slice(0, text[at - 1] === "!" ? at - 1 : at) + closed(link.shown) : undefined;
}

/** The block with everything that is open in it closed. */
function closed(block: string): string {
  // A sign at the very end doesn't open or close anything yet.
  const text = block.replace(/(?<!\\)(?:!?\[|[*_~`])+$/, (signs, at: number) => (closesAt(block.slice(0, at), signs) ? signs : ""));
  const open: Open[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const brokenOff = brokenOffAt(text, at);
    if (brokenOff !== undefined) return finish(brokenOff, open);
    at += passedOrOpened(open, text, at) - 1;
  }
  return finish(text, open);
}

/** Records what is opened or closed at `at`. Returns how many characters that took. */
function passedOrOpened(open: Open[], text: string, at: number): number {
  const passed = passedAt(text, at);
  const isSign = passed === 0 && /[*_~]/.test(text[at] ?? "");
  if (!isSign) return passed || 1;
  const length = runAt(text, at);
  closeOrOpen(open, text, at, length);
  return length;
}

/** Whether `signs` close what is open in the text before them. */
function closesAt(before: string, signs: string): boolean {
  const open: Open[] = [];
  for (let at = 0; at < before.length; at += 1) {
    if (before[at] === "`" && passedAt(before, at) === 0) return signs === "`".repeat(runAt(before, at));
    at += passedOrOpened(open, before, at) - 1;
  }
  return (
    open.length > 0 &&
    /\S$/.test(before) &&
    open
      .toReversed()
      .reduce((all, { signs: one }) => all + one, "")
      .startsWith(signs) &&
    isWhole(open, signs)
  );
}

/** Whether the signs close only complete markers. */
function isWhole(open: readonly Open[], signs: string): boolean {
  let length = signs.length;
  for (const one of open.toReversed()) {
    if (length === 0) return true;
    length -= one.signs.length;
  }
  return length === 0;
}

function finish(text: string, open: readonly Open[]): string {
  if (open.length === 0) return text;
  return text.trimEnd() + open.toReversed().reduce((signs, one) => signs + one.signs, "");
}

/** A longer end is shown as it is: a marker opened that long ago will not be closed any more. */
const longestEnd = 2_000;

export function closeUnfinished(text: string): string {
  if (endsInFence(text)) return text;
  const formula = unfinishedFormula(text);
  if (formula >= 0) return text.slice(0, formula);
  const start = startOfLastBlock(text);
  const block = text.slice(start);
  if (block.length > longestEnd) return text;
  // Whether a line of signs is a rule or a heading's underline is known only with the next line.
  if (/^[ \t]*(?:[-=*+_#>]{1,2}|\d{1,9}[.)])[ \t]*$/.test(block.slice(block.lastIndexOf("\n") + 1))) {
    return text.slice(0, start + Math.max(0, block.lastIndexOf("\n")));
  }
  return text.slice(0, start) + closed(block);
}
