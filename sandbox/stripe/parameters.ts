import { invalidParameter, missingParameter, notPlayed } from "./errors.ts";
import type { FormObject, FormValue } from "./form.ts";

export type Metadata = Record<string, string>;

const metadataKeys = 50;
const textLimit = 5000;

function isObject(value: FormValue): value is FormObject {
  return typeof value === "object" && !Array.isArray(value);
}

/**
 * Reads a request's parameters one by one and remembers which were read, so that `refuseUnknown` can answer
 * `parameter_unknown` for the others, as Stripe does. An empty string unsets a value.
 */
export class Parameters {
  private readonly values: FormObject;
  private readonly path: string;
  private readonly read = new Set<string>();
  private readonly children: Parameters[] = [];

  constructor(values: FormObject, path = "") {
    this.values = values;
    this.path = path;
  }

  nameOf(key: string): string {
    return this.path === "" ? key : `${this.path}[${key}]`;
  }

  has(key: string): boolean {
    return this.values[key] !== undefined;
  }

  private take(key: string): FormValue | undefined {
    this.read.add(key);
    return this.values[key];
  }

  /** Undefined if absent, null if sent empty, which unsets the value. */
  text(key: string): string | null | undefined {
    const value = this.take(key);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw invalidParameter(`Invalid string: ${this.nameOf(key)}`, this.nameOf(key));
    if (value.length > textLimit) throw invalidParameter(`Invalid string: must be at most ${textLimit} characters`, this.nameOf(key));
    return value === "" ? null : value;
  }

  requiredText(key: string): string {
    const value = this.text(key);
    if (value === undefined) throw missingParameter(this.nameOf(key));
    if (value === null) {
      const message = `You passed an empty string for '${this.nameOf(key)}'. We assume empty values are an attempt to unset a parameter; however '${this.nameOf(key)}' cannot be unset.`;
      throw invalidParameter(message, this.nameOf(key), "parameter_invalid_empty");
    }
    return value;
  }

  integer(key: string, minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    const number = Number(value);
    if (!/^-?\d{1,15}$/.test(value))
      throw invalidParameter(`Invalid integer: ${value.slice(0, 50)}`, this.nameOf(key), "parameter_invalid_integer");
    if (number < minimum)
      throw invalidParameter(`This value must be greater than or equal to ${minimum}.`, this.nameOf(key), "parameter_invalid_integer");
    if (number > maximum)
      throw invalidParameter(`This value must be less than or equal to ${maximum}.`, this.nameOf(key), "parameter_invalid_integer");
    return number;
  }

  requiredInteger(key: string, minimum?: number, maximum?: number): number {
    const value = this.integer(key, minimum, maximum);
    if (value === undefined) throw missingParameter(this.nameOf(key));
    return value;
  }

  decimal(key: string): number | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    if (!/^\d{1,12}(\.\d{1,12})?$/.test(value)) throw invalidParameter(`Invalid decimal: ${value.slice(0, 50)}`, this.nameOf(key));
    return Number(value);
  }

  boolean(key: string): boolean | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    if (value !== "true" && value !== "false") throw invalidParameter(`Invalid boolean: ${value.slice(0, 50)}`, this.nameOf(key));
    return value === "true";
  }

  oneOf<const Value extends string>(key: string, allowed: readonly Value[]): Value | undefined {
    const value = this.text(key);
    if (value === undefined || value === null) return undefined;
    const known = allowed.find((candidate) => candidate === value);
    if (known === undefined) throw invalidParameter(`Invalid ${this.nameOf(key)}: must be one of ${allowed.join(", ")}`, this.nameOf(key));
    return known;
  }

  object(key: string): Parameters | undefined {
    const value = this.take(key);
    if (value === undefined || value === "") return undefined;
    if (!isObject(value)) throw invalidParameter(`Invalid object: ${this.nameOf(key)}`, this.nameOf(key));
    const child = new Parameters(value, this.nameOf(key));
    this.children.push(child);
    return child;
  }

  private list(key: string): FormValue[] | undefined {
    const value = this.take(key);
    if (value === undefined) return undefined;
    if (value === "") return [];
    if (!Array.isArray(value)) throw invalidParameter(`Invalid array: ${this.nameOf(key)}`, this.nameOf(key));
    return value;
  }

  texts(key: string): string[] | undefined {
    return this.list(key)?.map((item, index) => {
      if (typeof item !== "string" || item.length > textLimit)
        throw invalidParameter(`Invalid string: ${this.nameOf(key)}[${index}]`, this.nameOf(key));
      return item;
    });
  }

  objects(key: string): Parameters[] | undefined {
    return this.list(key)?.map((item, index) => {
      const name = `${this.nameOf(key)}[${index}]`;
      if (!isObject(item)) throw invalidParameter(`Invalid object: ${name}`, name);
      const child = new Parameters(item, name);
      this.children.push(child);
      return child;
    });
  }

  /** The new metadata: keys are merged into `before`, an empty value removes its key, empty metadata removes all keys. */
  metadata(key: string, before: Metadata = {}): Metadata {
    const value = this.take(key);
    if (value === undefined) return before;
    if (value === "") return {};
    if (!isObject(value)) throw invalidParameter(`Invalid object: ${this.nameOf(key)}`, this.nameOf(key));
    const result: Metadata = { ...before };
    for (const [name, text] of Object.entries(value)) {
      if (typeof text !== "string" || text.length > 500 || name.length > 40)
        throw invalidParameter(
          "Metadata values are strings of at most 500 characters under keys of at most 40.",
          `${this.nameOf(key)}[${name.slice(0, 40)}]`,
        );
      if (text === "") delete result[name];
      else result[name] = text;
    }
    if (Object.keys(result).length > metadataKeys)
      throw invalidParameter(`Metadata can have at most ${metadataKeys} keys.`, this.nameOf(key));
    return result;
  }

  /** For parameters that Stripe knows and the sandbox does not play. Throws if one is given. */
  refuse(...keys: string[]): void {
    for (const key of keys) {
      const value = this.take(key);
      if (value !== undefined && value !== "") throw notPlayed(this.nameOf(key));
    }
  }

  /** For a parameter of which the sandbox plays some values. Throws if another one is given. */
  only(key: string, ...played: string[]): void {
    const value = this.text(key);
    if (value && !played.includes(value)) throw notPlayed(this.nameOf(key), played.join(" or "));
  }

  /** The first parameter that was not read. */
  unread(): string | undefined {
    return Object.keys(this.values).find((key) => !this.read.has(key));
  }

  /** Throws `parameter_unknown` for the first parameter that was not read. */
  refuseUnknown(): void {
    const unknown = this.unread();
    if (unknown !== undefined) {
      const name = this.nameOf(unknown);
      throw invalidParameter(`Received unknown parameter: ${name}`, name, "parameter_unknown");
    }
    for (const child of this.children) child.refuseUnknown();
  }
}
