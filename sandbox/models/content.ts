/** Reads the content of a message: its text, and its pictures and files. */
import type { Model } from "#domain/models.ts";
import { isFields } from "./fields.ts";
import type { Medium } from "./media.ts";
import { readMedium } from "./media.ts";
import { invalidRequest } from "./openai-error.ts";

interface Content {
  text: string;
  /** A description of each picture or file that came with the text. */
  seen: readonly string[];
  /** The tokens of the pictures and files. */
  mediaTokens: number;
}

/** A message: a string, or parts of these types. */
export function readContent(content: unknown, types: readonly string[], param: string, model: Model): Content {
  if (typeof content === "string") return { text: content, seen: [], mediaTokens: 0 };
  if (!Array.isArray(content))
    throw invalidRequest(`Invalid type for '${param}': expected a string or an array of parts.`, param, "invalid_type");
  const texts: string[] = [];
  const media: Medium[] = [];
  for (const [index, part] of content.entries()) {
    const place = `${param}[${index}]`;
    const known = isFields(part) && types.includes(String(part.type));
    const medium = known ? readMedium(part, model, place) : undefined;
    if (medium) media.push(medium);
    else if (known && typeof part.text === "string") texts.push(part.text);
    else {
      const expected = types.map((type) => `'${type}'`).join(", ");
      throw invalidRequest(`Invalid value for '${place}': the sandbox takes parts of type ${expected} only.`, place, "invalid_value");
    }
  }
  return { text: texts.join("\n"), seen: media.map(({ seen }) => seen), mediaTokens: media.reduce((sum, { tokens }) => sum + tokens, 0) };
}
