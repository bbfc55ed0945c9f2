import { invalidRequest } from "./openai-error.ts";

/** Reads the fields of a request, and refuses those that are not right as the providers do. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function readBody(body: unknown): Fields {
  if (!isFields(body)) throw invalidRequest("We could not parse the JSON body of your request. Expected an object.", null);
  return body;
}

export function readModel({ model }: Fields): string {
  if (model === undefined) throw invalidRequest("you must provide a model parameter", "model", "missing_required_parameter");
  if (typeof model !== "string") throw invalidRequest("Invalid type for 'model': expected a string.", "model", "invalid_type");
  return model;
}

/** Null counts as absent, as at OpenAI. */
export function booleanField(fields: Fields, name: string, prefix = ""): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean")
    throw invalidRequest(`Invalid type for '${prefix}${name}': expected a boolean.`, prefix + name, "invalid_type");
  return value;
}

export function numberField(fields: Fields, name: string, minimum: number, maximum: number, whole: boolean): number | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidRequest(`Invalid type for '${name}': expected a number.`, name, "invalid_type");
  if (whole && !Number.isSafeInteger(value)) throw invalidRequest(`Invalid type for '${name}': expected an integer.`, name, "invalid_type");
  if (value < minimum || value > maximum) {
    throw invalidRequest(`Invalid '${name}': expected a value from ${minimum} to ${maximum}, got ${value}.`, name, "invalid_value");
  }
  return value;
}

/** One of these words, or undefined. */
export function wordField<Word extends string>(fields: Fields, name: string, words: readonly Word[], prefix = ""): Word | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  const word = words.find((each) => each === value);
  if (word === undefined) {
    const expected = words.map((each) => `'${each}'`).join(", ");
    throw invalidRequest(
      `Invalid value for '${prefix}${name}': the sandbox knows ${expected}, got ${JSON.stringify(value)}.`,
      prefix + name,
      "invalid_value",
    );
  }
  return word;
}

/** Refuses a field that the sandbox does not play, by its name. */
export function refuseOthers(fields: Fields, known: readonly string[], prefix = ""): void {
  for (const name of Object.keys(fields))
    if (!known.includes(name))
      throw invalidRequest(`Unknown parameter: '${prefix}${name}'. (The sandbox does not play it.)`, prefix + name, "unknown_parameter");
}
