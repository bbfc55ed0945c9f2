/** Reads the fields of a request: JSON from scripts, a form from the page. A blank form field counts as absent. */
import { ControlProblem } from "./problem.ts";

export type Fields = Readonly<Record<string, unknown>>;

function invalid(field: string, message: string): ControlProblem {
  return new ControlProblem(400, "validation_failed", message, field);
}

/** Refuses fields that are not in `names`, so that a misspelt field is not silently replaced by its default. */
export function readFields(body: unknown, names: readonly string[]): Fields {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalid("body", "Send a JSON object or a form.");
  for (const name of Object.keys(body)) {
    if (!names.includes(name)) throw invalid(name, `There is no field “${name}” here; there are ${names.join(", ")}.`);
  }
  return { ...body };
}

export function readText(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && value.length <= 200) return value.trim();
  throw invalid(name, `“${name}” is a text of up to 200 characters.`);
}

export function readInteger(fields: Fields, name: string, minimum: number, maximum: number): number | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || value === "") return undefined;
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= minimum && number <= maximum) return number;
  throw invalid(name, `“${name}” is a whole number from ${minimum} to ${maximum}.`);
}

/** Null or a blank form field means none. A missing field is refused, so that a script can't clear a fault by accident. */
export function readChoice<Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice | null {
  const value = fields[name];
  if (value === null || value === "") return null;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw invalid(name, `“${name}” is one of ${choices.join(", ")}, or null.`);
}
