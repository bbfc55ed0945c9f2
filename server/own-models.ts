/**
 * The operator's own models (`OWN_MODELS_FILE`): what servers with OpenAI's protocol serve beside the catalogue, such as Ollama, vLLM or a
 * gateway. Each has a price class of ours, and its limits have to be low enough for that price to cover what an answer costs.
 */
import { readFileSync } from "node:fs";
import type { Static, TSchema } from "typebox";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Model, OwnProvider } from "#domain/models.ts";
import { catalogue, findModel, providers } from "#domain/models.ts";
import { creditCapMicroDollars, worstUnitMicroDollars } from "#domain/provider-prices.ts";
import type { Environment } from "./environment.ts";

const strict = { additionalProperties: false };
const Label = Type.String({ minLength: 1, maxLength: 60, pattern: "^\\S.*$" });
const Dollars = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000 }));

const Server = Type.Object(
  {
    name: Label,
    baseUrl: Type.String({ pattern: "^https?://[^\\s?#@]+$" }),
    // Otherwise the key of another service could be sent to this server by mistake.
    keyVariable: Type.Optional(Type.String({ pattern: "^[A-Z][A-Z0-9_]*_API_KEY$" })),
  },
  strict,
);

const common = {
  name: Label,
  server: Type.String(),
  model: Type.String({ minLength: 1, maxLength: 200 }),
  kind: Type.String({ pattern: "^(text|transcript)$" }),
  until: Type.Optional(Type.String({ pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" })),
  successor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
};
const TextModel = Type.Object(
  {
    ...common,
    priceClass: Type.String({ pattern: "^(small|large)$" }),
    inputTokens: Type.Integer({ minimum: 1_000, maximum: 2_000_000 }),
    outputTokens: Type.Integer({ minimum: 100, maximum: 200_000 }),
    pictures: Type.Optional(Type.Boolean()),
    dollarsPerMillionInput: Dollars,
    dollarsPerMillionOutput: Dollars,
  },
  strict,
);
const TranscriptModel = Type.Object({ ...common, priceClass: Type.String({ pattern: "^minute$" }), dollarsPerMinute: Dollars }, strict);
const Kind = Type.Object({ kind: common.kind });

const key = "^[a-z0-9][a-z0-9.-]{0,59}$";
const File = Type.Object(
  {
    servers: Type.Record(Type.String({ pattern: key }), Server, strict),
    models: Type.Record(Type.String({ pattern: key }), Type.Object({}), strict),
  },
  strict,
);

const whatToGive: Readonly<Record<string, string>> = {
  servers: 'name each server with small letters, digits, "." and "-"',
  models: 'name each model with small letters, digits, "." and "-"',
  name: "give the name that people read, of at most 60 characters",
  baseUrl: "give the address of the server's API, such as http://127.0.0.1:11434/v1",
  keyVariable: "name the environment variable with the server's key, which ends in _API_KEY, or leave it out",
  server: "name one of the servers of this file",
  model: "give the id by which the server knows the model",
  kind: 'give "text" or "transcript"',
  priceClass: 'give "small" (1 credit an answer) or "large" (5) for text, "minute" (2) for a transcript',
  inputTokens: "give the tokens of a conversation that the model gets, from 1000",
  outputTokens: "give the tokens of its longest answer, thinking included, from 100",
  pictures: "give true if the model sees pictures",
  until: "give the day, such as 2027-03-31, from which it is not offered",
  successor: "give the id of a model of this file, or of the catalogue, that conversations can go on with from that day",
  dollarsPerMillionInput: "give what a million tokens cost you, in US dollars",
  dollarsPerMillionOutput: "give what a million tokens cost you, in US dollars",
  dollarsPerMinute: "give what a minute costs you, in US dollars",
};
const wholeForm = 'a file has "servers" and "models" (README, "Models of your own")';

type TextEntry = Static<typeof TextModel>;
type TranscriptEntry = Static<typeof TranscriptModel>;

export interface OwnServer {
  provider: OwnProvider;
  apiKey: string;
  baseUrl: string;
}

export interface OwnModels {
  servers: readonly OwnServer[];
  models: readonly Model[];
}

/** Collects the faults of the file, each with its line and what to do about it. */
class Faults {
  private readonly environment: Environment;
  private readonly file: string;
  private readonly text: string;
  found = false;

  constructor(environment: Environment, file: string, text: string) {
    this.environment = environment;
    this.file = file;
    this.text = text;
  }

  /** `path`: the keys that lead to the place. */
  add(path: readonly string[], what: string, toDo: string = whatToGive[path.at(-1) ?? ""] ?? wholeForm): void {
    this.found = true;
    let at = 0;
    for (const segment of path) at = Math.max(at, this.text.indexOf(JSON.stringify(segment), at) + 1);
    const line = this.text.slice(0, at).split("\n").length;
    this.environment.faults.push(`OWN_MODELS_FILE: ${this.file}, line ${line}, ${path.join("/") || "the file"} ${what}; ${toDo}`);
  }

  /** Whether the value has the schema's form. */
  check<Schema extends TSchema>(schema: Schema, value: unknown, path: readonly string[]): value is Static<Schema> {
    for (const { instancePath, message, params, keyword } of Value.Errors(schema, value)) {
      // A fault of a field also makes every object around it faulty.
      if (keyword === "boolean") continue;
      const inner = instancePath.split("/").slice(1);
      const { requiredProperties, additionalProperties } = params as { requiredProperties?: string[]; additionalProperties?: string[] };
      const named = requiredProperties ?? additionalProperties;
      if (!named) this.add([...path, ...inner], keyword === "pattern" ? "is wrong" : message);
      // For a name that the schema refuses we say how servers or models are named, or else what a file consists of.
      const toDo = requiredProperties
        ? undefined
        : (whatToGive[path.length === 0 && inner.length === 1 ? String(inner[0]) : ""] ?? wholeForm);
      for (const name of named ?? []) this.add([...path, ...inner, name], requiredProperties ? "is missing" : "is not known", toDo);
    }
    return Value.Check(schema, value);
  }
}

const micro = (dollars: number | undefined) => Math.round((dollars ?? 0) * 1e6);

const ownId = (id: string) => `own-${id}`;

function modelOf(id: string, entry: TextEntry | TranscriptEntry, server: string): Model {
  const { name, model: upstreamModel, until, successor } = entry;
  const own = {
    id: ownId(id),
    name,
    provider: `own:${entry.server}` as const,
    upstreamModel,
    from: "2000-01-01",
    ...(until && { until }),
    // As the file names it, until `withSuccessors` has found it.
    ...(successor && { successor }),
  };
  if (!("inputTokens" in entry)) {
    const price = { inputMicroDollars: 0, outputMicroDollars: 0, requestMicroDollars: micro(entry.dollarsPerMinute) };
    const facts = { category: "audio", protocol: "openai-transcriptions", size: "none", credits: 2, unit: "minute" } as const;
    return { ...own, ...facts, inputTokenLimit: 0, outputTokenLimit: 0, own: { server, pictures: false, price } };
  }
  const price = {
    inputMicroDollars: micro(entry.dollarsPerMillionInput),
    outputMicroDollars: micro(entry.dollarsPerMillionOutput),
    requestMicroDollars: 0,
  };
  const size = entry.priceClass === "small" ? "small" : "large";
  return {
    ...own,
    ...{ category: "text", protocol: "openai-chat", size, credits: size === "small" ? 1 : 5, unit: "answer" },
    ...{ inputTokenLimit: entry.inputTokens, outputTokenLimit: entry.outputTokens },
    own: { server, pictures: entry.pictures ?? false, price },
  };
}

/** Undefined, with a fault, for an entry that can't be sold. */
function readModel(
  faults: Faults,
  id: string,
  entry: unknown,
  servers: Readonly<Record<string, Static<typeof Server>>>,
): Model | undefined {
  const path = ["models", id];
  if (!faults.check(Kind, entry, path)) return undefined;
  if (!faults.check(entry.kind === "text" ? TextModel : TranscriptModel, entry, path)) return undefined;
  const read = entry as TextEntry | TranscriptEntry;
  const server = servers[read.server];
  if (!server) {
    faults.add([...path, "server"], `is ${read.server}, which is no server of this file`);
    return undefined;
  }
  const model = modelOf(id, read, server.name);
  if (catalogue.some(({ name }) => name === model.name)) faults.add([...path, "name"], `is that of a model of the catalogue`);
  const [worst, most] = [worstUnitMicroDollars(model) / 1e6, (creditCapMicroDollars * model.credits) / 1e6];
  if (worst > most)
    faults.add(
      [...path, "priceClass"],
      `covers ${most.toFixed(4)} dollars, and the longest answer costs ${worst.toFixed(4)}`,
      "lower inputTokens or outputTokens, or give a dearer price class",
    );
  return model;
}

/**
 * Puts the ids of ours in the place of those that the file names as successors: its own models first. Each leads to a model of the same kind,
 * and never back.
 */
function withSuccessors(faults: Faults, models: readonly Model[]): readonly Model[] {
  const find = (id: string) => models.find((model) => model.id === id) ?? findModel(id);
  const linked = models.map((model): Model => {
    const { successor } = model;
    if (successor === undefined) return model;
    const next = find(ownId(successor)) ?? find(successor);
    const fault = (what: string, toDo?: string) => faults.add(["models", model.id.slice(ownId("").length), "successor"], what, toDo);
    if (model.until === undefined) fault("needs the day of the end", 'give it as "until", or leave the successor out');
    if (!next) fault(`is ${successor}, which is no model`);
    else if (next.category !== model.category || next.unit !== model.unit) fault(`is ${next.name}, which is of another kind`);
    return next ? { ...model, successor: next.id } : model;
  });
  const byId = new Map(linked.map((model) => [model.id, model]));
  for (const { id, successor } of linked) {
    let next = successor;
    for (let steps = 0; next !== undefined && next !== id && steps < linked.length; steps += 1) next = byId.get(next)?.successor;
    if (next === id) faults.add(["models", id.slice(ownId("").length), "successor"], "leads back to the model itself");
  }
  return linked;
}

function readServer(environment: Environment, faults: Faults, id: string, { baseUrl, keyVariable }: Static<typeof Server>): OwnServer {
  const apiKey = keyVariable === undefined ? "none" : environment.text(keyVariable);
  const fault = (what: string, toDo: string) => faults.add(["servers", id, "keyVariable"], what, toDo);
  if (providers.some((provider) => keyVariable === `${provider.toUpperCase()}_API_KEY`))
    fault(`names ${keyVariable}, which is the key of a provider of the catalogue`, "put the server's own key into another variable");
  else if (apiKey === undefined) fault(`names ${keyVariable}, which is not set`, "set it, or leave it out");
  if (!URL.canParse(baseUrl)) faults.add(["servers", id, "baseUrl"], "is no address");
  return { provider: `own:${id}`, apiKey: apiKey ?? "", baseUrl };
}

/** Empty without a file, and if there is a fault. */
export function readOwnModels(environment: Environment): OwnModels {
  const nothing: OwnModels = { servers: [], models: [] };
  const file = environment.text("OWN_MODELS_FILE");
  if (file === undefined) return nothing;
  let text = "";
  let content: unknown;
  try {
    text = readFileSync(file, "utf8");
    content = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    environment.faults.push(`OWN_MODELS_FILE: ${file} can't be read as JSON: ${reason.replaceAll(/\s+/g, " ")}`);
    return nothing;
  }
  const faults = new Faults(environment, file, text);
  if (!faults.check(File, content, [])) return nothing;
  const servers = Object.entries(content.servers).map(([id, server]) => readServer(environment, faults, id, server));
  const models = Object.entries(content.models).flatMap(([id, entry]) => readModel(faults, id, entry, content.servers) ?? []);
  // Models with faults are missing from the list. Models that name them as successors must not be reported for that.
  if (faults.found) return nothing;
  const linked = withSuccessors(faults, models);
  return faults.found ? nothing : { servers, models: linked };
}
