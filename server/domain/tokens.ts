/**
 * How many tokens a text has at most. Providers don't give us their tokenizers, and a text of numbers or keys has three times as many tokens as
 * words of the same length. Every tokenizer falls back to bytes, so a byte is at most one token. In words of the languages that we speak a
 * token has two bytes or more, even if their letters are drawn by lot (tests/domain/tokens.test.ts). So a byte of a word counts half a token,
 * and a byte of anything else a whole one: digits, signs, emoji, scripts whose words were not measured.
 */

/** No text has more tokens than this many times what we count. */
export const mostTokensPerCounted = 2;

/** The most letters of a word. A longer run of letters is a key, or the like. */
const longestWord = 16;

/** `unspaced`: Chinese, Japanese and Korean. `pairs`: white space and ASCII signs, of which two of the same are one token. */
type Kind = "small" | "capital" | "unspaced" | "pairs" | "bytes";

const within = (code: number, from: number, to: number) => code >= from && code <= to;

function kindOf(code: number): Kind {
  if (within(code, 0x61, 0x7a)) return "small";
  if (within(code, 0x41, 0x5a)) return "capital";
  if (code < 0x80) return within(code, 0x30, 0x39) ? "bytes" : "pairs";
  if (within(code, 0xc0, 0xde) || within(code, 0x400, 0x42f)) return "capital";
  if (within(code, 0xdf, 0x17f) || within(code, 0x218, 0x21b) || within(code, 0x430, 0x45f)) return "small";
  if (within(code, 0x3000, 0x30ff) || within(code, 0x3400, 0x9fff) || within(code, 0xac00, 0xd7a3)) return "unspaced";
  // Their punctuation.
  return within(code, 0xff01, 0xff1f) ? "unspaced" : "bytes";
}

/** How many bytes of UTF-8 one unit of UTF-16 takes. A character beyond these has two units and four bytes. */
const bytesOf = (code: number) => (code < 0x80 ? 1 : code < 0x800 || within(code, 0xd800, 0xdfff) ? 2 : 3);
const isLetter = (kind: Kind | undefined) => kind === "small" || kind === "capital";

/** Whether a unit continues the word, or the run of one sign, of the unit before it. */
function goesOn(kind: Kind, code: number, before: Kind | undefined, codeBefore: number): boolean {
  return kind === "pairs" ? code === codeBefore : kind === before || (kind === "small" && before === "capital");
}

/** Never fewer than half of the text's bytes in UTF-8. */
export function countTokens(text: string): number {
  let halves = 0;
  let letters = 0;
  let before: Kind | undefined;
  let codeBefore = -1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    if (!goesOn(kind, code, before, codeBefore)) {
      halves += halves % 2;
      letters = 0;
      // The space before a word is its first byte. A word has that byte in any case, and a capital takes one more.
      if (isLetter(kind)) halves += kind === "capital" ? 2 : 1;
    }
    if (isLetter(kind)) {
      letters += 1;
      halves += letters > longestWord ? 2 * bytesOf(code) : bytesOf(code);
    } else if (kind === "unspaced") halves += 3;
    else if (kind === "bytes") halves += 2 * bytesOf(code);
    else if (code !== 0x20 || !isLetter(kindOf(text.charCodeAt(at + 1)))) halves += 1;
    before = kind;
    codeBefore = code;
  }
  return Math.ceil(halves / 2);
}
