/** The operator's file (`MODELS_FILE`): models that this installation switches off, or asks under another id of their provider. */
import { readFileSync } from "node:fs";
import type { Static } from "typebox";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { findModel } from "#domain/models.ts";
import type { Environment } from "./environment.ts";

const Change = Type.Object(
  { off: Type.Optional(Type.Boolean()), upstreamModel: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false },
);
const Changes = Type.Record(Type.String(), Change);

/** By the model's id. Prices and names can't be changed: they are what was sold. */
export type ModelChanges = ReadonlyMap<string, Static<typeof Change>>;

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return error;
  }
}

/** Empty without a file. Adds a fault for a file that can't be read, and for each model that does not exist. */
export function readModelChanges(environment: Environment): ModelChanges {
  const file = environment.text("MODELS_FILE");
  if (file === undefined) return new Map();
  const content = parse(file);
  if (content instanceof Error) {
    environment.faults.push(`MODELS_FILE: ${file} can't be read as JSON: ${content.message}`);
    return new Map();
  }
  if (!Value.Check(Changes, content)) {
    const [error] = Value.Errors(Changes, content);
    environment.faults.push(
      `MODELS_FILE: ${file}${error?.instancePath ?? ""} ${error?.message ?? "is wrong"}; each model has "off" or "upstreamModel"`,
    );
    return new Map();
  }
  for (const id of Object.keys(content)) if (!findModel(id)) environment.faults.push(`MODELS_FILE: ${file} names ${id}, which is no model`);
  return new Map(Object.entries(content));
}
