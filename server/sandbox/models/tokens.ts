/**
 * The sandbox's token rule: one token is a run of up to eight letters or digits, one Han or Kana sign, or one other sign,
 * each with the white space before it. The tokens of a text, joined, are the text again.
 */
const tokenPattern = /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]{1,8}|\S)|\s+/gu;

/** What a message costs beyond its text: its role and its borders. */
const tokensPerMessage = 4;

export function splitTokens(text: string): string[] {
  return text.match(tokenPattern) ?? [];
}

export function countPromptTokens(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + splitTokens(text).length + tokensPerMessage, 0);
}
