/**
 * Finds SQL conditions that take a key to pieces, put one together from a column, or compare an id as text. A key is only there to make
 * something happen once: such a condition breaks when the key's form changes, and no index serves most of them. What is searched for should
 * be a column, and an id should be compared as a UUID.
 */

/** Casts in a list of columns, and of parameters to text, are not conditions on a column. */
const castInQuery = /(?<!\$\d|\$\{\w+\})::text\b(?!\[|\s+as\b|\)?\s+from\b)/;
const castCompared = /::text\s*(?:=|<>|!=|<|>|~|(?:not\s+)?(?:in|like|ilike)\b)|(?:=|<>|!=|<|>|~|\blike)\s*[\w.]+::text\b/i;
const taken = /split_part|string_to_array|regexp_(?:split|match)/i;
/** What begins with a text of ours. A content type consists of a type and a subtype, so its first part may be asked for. */
const begins = /(?<!\bcontent_type\s+(?:not\s+)?)\bi?like\s+'[^'%]|"i?like",\s*["'`][^"'`%$]|\bstarts_with\(|\^@/i;
/** A text of ours before a column. Before a parameter or a variable it is one whole key that is looked up. */
const built =
  /(?:=|<>|!=|\b(?:in|any|all))\s*\(*\s*(?:select\s+)?(?:(?:'[^']*:'|\$\{[^}]*\})\s*\|\|(?!\s*(?:p_|v_|\$))|concat\(\s*'[^']*:')/i;

/** A column of texts, or part of a JSON one, that is made an id or a number to be compared. Parameters and variables are no columns. */
const text = String.raw`(?:\((?:\w+\.)?\w+(?:\s*->>?\s*'\w+')+\)|(?<![\w$}.])(?!p_|v_)(?:\w+\.)?[a-z]\w*)`;
const type = "::(?:uuid|bigint|integer)\\b(?!\\[)";
const converted = new RegExp(`${text}${type}\\s*(?:=|<>|in\\b)|(?<!:)(?:=|<>)\\s*${text}${type}`, "i");

/** Returns the lines of one of our source files that do so. */
export function parsedKeysInSource(text: string): string[] {
  return text.split("\n").filter((line) => [castInQuery, taken, begins, built, converted].some((fault) => fault.test(line)));
}

/** Returns the lines of a database function's body that do so. */
export function parsedKeysInFunction(body: string): string[] {
  return body.split("\n").filter((line) => [castCompared, taken, begins, built, converted].some((fault) => fault.test(line)));
}
