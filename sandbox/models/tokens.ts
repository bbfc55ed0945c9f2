/**
 * The sandbox's tokens: up to eight letters or digits, one Han or Kana character, or one other character, each with the white
 * space before it. Joining the tokens of a text gives the text again.
 */
const tokenPattern = /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]{1,8}|\S)|\s+/gu;

/** The tokens of a message besides its text: for its role and the separators. */
const tokensPerMessage = 4;

export function splitTokens(text: string): string[] {
  return text.match(tokenPattern) ?? [];
}

export function countPromptTokens(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + splitTokens(text).length + tokensPerMessage, 0);
}
