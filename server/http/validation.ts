/**
 * Checks every request against its contract with TypeBox's compiled checks. Bodies are neither converted nor stripped of
 * unknown fields. Query strings, headers and parameters arrive as text and are converted first.
 */
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Value } from "typebox/value";
import { ValidationError } from "./problem.ts";

const compiled = new WeakMap<object, ReturnType<typeof Compile>>();

/** A check is compiled for the first request, as serializers are for the first answer. */
function checkOf(schema: TSchema): ReturnType<typeof Compile> {
  const check = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, check);
  return check;
}

/** PostgreSQL can't store U+0000, and half a surrogate pair is not valid Unicode. Refused here for every route. */
function holdsUnstorableText(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\u0000") || !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, item]) => holdsUnstorableText(key) || holdsUnstorableText(item));
}

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  return (input: unknown) => {
    const check = checkOf(schema);
    // Most texts are what the contract wants already, and converting costs far more than the check.
    const value = httpPart === "body" || check.Check(input) ? input : Value.Convert(schema, input);
    if (check.Check(value)) {
      if (!holdsUnstorableText(value)) return { value };
      return { error: new ValidationError([{ field: httpPart ?? "", message: "The text contains characters that cannot be stored" }]) };
    }
    const fields = check
      .Errors(value)
      .slice(0, 10)
      .map((fault) => ({ field: fault.instancePath.replace(/^\//, "") || (httpPart ?? ""), message: fault.message }));
    return { error: new ValidationError(fields) };
  };
};
