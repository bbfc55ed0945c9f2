/**
 * Finds conditions that take a key to pieces or compare an id as text. No index serves such a condition, and it breaks when the key's form
 * changes; what is asked for is a column, and an id is compared as what it is.
 */

/** Casts in a list of columns, and parameters that are texts, are no conditions on a column. */
const castInQuery = /(?<!\$\d|\$\{\w+\})::text\b(?!\[|\s+as\b|\)?\s+from\b)/;
const castCompared = /::text\s*(?:=|<>|!=|<|>|~|(?:not\s+)?(?:in|like|ilike)\b)|(?:=|<>|!=|<|>|~|\blike)\s*[\w.]+::text\b/i;
const taken = /split_part|string_to_array|regexp_(?:split|match)/i;

/** Returns the lines of one of our source files that do so. */
export function parsedKeysInSource(text: string): string[] {
  return text.split("\n").filter((line) => castInQuery.test(line) || taken.test(line));
}

/** Returns the lines of a database function's body that do so. */
export function parsedKeysInFunction(body: string): string[] {
  return body.split("\n").filter((line) => castCompared.test(line) || taken.test(line));
}
