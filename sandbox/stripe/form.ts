/**
 * Stripe's request format: `application/x-www-form-urlencoded` with brackets (`items[0][price]=…`, `expand[]=…`).
 * Size, depth and count are limited. The objects have no prototype, so that no key can change one.
 */
import { invalidParameter } from "./errors.ts";

export type FormValue = string | FormValue[] | FormObject;
export interface FormObject {
  [key: string]: FormValue;
}

export const formBodyLimitBytes = 256 * 1024;
const maximumFields = 1000;
const maximumDepth = 8;
const maximumListIndex = 250;

function emptyObject(): FormObject {
  return Object.create(null) as FormObject;
}

/** `a[b][0]` → `["a", "b", "0"]`. Empty brackets append to a list. */
function segmentsOf(name: string): string[] {
  const open = name.indexOf("[");
  if (open === -1) return [name];
  const rest = name.slice(open);
  const parts = [...rest.matchAll(/\[([^[\]]*)\]/g)];
  const covered = parts.reduce((length, part) => length + part[0].length, 0);
  if (open === 0 || covered !== rest.length) throw invalidParameter(`Invalid parameter name: ${name.slice(0, 100)}`, name.slice(0, 100));
  if (parts.length >= maximumDepth) throw invalidParameter(`The parameter ${name.slice(0, 100)} is nested too deeply.`, name.slice(0, 100));
  return [name.slice(0, open), ...parts.map((part) => part[1] ?? "")];
}

function place(target: FormObject, segments: readonly string[], value: string, name: string): void {
  let current = target;
  segments.forEach((segment, depth) => {
    const key = segment === "" ? String(Object.keys(current).length) : segment;
    if (depth === segments.length - 1) {
      if (typeof current[key] === "object") throw invalidParameter(`Invalid ${name}: given both as a value and as an object.`, name);
      current[key] = value;
      return;
    }
    const next = current[key] ?? emptyObject();
    if (typeof next === "string" || Array.isArray(next))
      throw invalidParameter(`Invalid ${name}: given both as a value and as an object.`, name);
    current[key] = next;
    current = next;
  });
}

/** Objects whose keys are 0, 1, 2, … become lists. */
function listsFromIndices(value: FormValue): FormValue {
  if (typeof value === "string" || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.length > 0 && keys.every((key) => /^\d{1,3}$/.test(key) && Number(key) <= maximumListIndex)) {
    return keys
      .sort((left, right) => Number(left) - Number(right))
      .map((key) => value[key])
      .filter((item) => item !== undefined)
      .map(listsFromIndices);
  }
  const result = emptyObject();
  for (const key of keys) {
    const item = value[key];
    if (item !== undefined) result[key] = listsFromIndices(item);
  }
  return result;
}

/** Throws Stripe's 400 for a malformed name, too many fields, or nesting beyond the limit. */
export function parseForm(text: string): FormObject {
  const result = emptyObject();
  let fields = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    fields += 1;
    if (fields > maximumFields) throw invalidParameter(`A request may carry at most ${maximumFields} parameters.`);
    place(result, segmentsOf(name), value, name);
  }
  const top = emptyObject();
  for (const [key, value] of Object.entries(result)) top[key] = listsFromIndices(value);
  return top;
}
