/** Makes values that fit a schema, hostile values, and spoiled JSON. */
import { randomUUID } from "node:crypto";

export type Random = (below: number) => number;

export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  enum?: unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
}

export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random(values.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

const longCharacters = 300_000;
/** More than the API's body limit. */
const tooLongCharacters = 1_000_000;

/** Used rarely, because a huge value is slow to build and to send. */
function hugeValue(random: Random): unknown {
  const unit = pick(random, ["x", "\u{1F600}", "\u0000", "\uFDFA", " "]);
  return unit.repeat((random(2) === 0 ? longCharacters : tooLongCharacters) / unit.length);
}

function nested(depth: number, list: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = list ? [value] : { a: value };
  return value;
}

const hostileTexts = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udfffy",
  "\u{1F600}".repeat(300),
  "\uFDFA".repeat(60),
  "\u202Eright to left",
  "\u200B",
  "NaN",
  "Infinity",
  "null",
  "undefined",
  "1e999",
  "1".repeat(400),
  "0x10",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "../../../etc/passwd",
  "'; drop table users; --",
  "<script>alert(1)</script>",
  "%s%n%x",
  "{{7*7}}",
  "a\r\nset-cookie: b=1",
  "00000000-0000-0000-0000-000000000000",
  "2026-02-30T00:00:00Z",
  "2026-06-30T23:59:60Z",
  "9999999999-01-01T00:00:00.000Z",
];
const hostileValues: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0.000_1,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  [],
  {},
  [[]],
  ["text"],
  [null],
  { $gt: "" },
  { toString: null, valueOf: 1 },
  { length: 1e9 },
  { constructor: { prototype: { admin: true } } },
];

export function hostileText(random: Random): string {
  return pick(random, hostileTexts);
}

export function hostileValue(random: Random): unknown {
  const roll = random(100);
  if (roll === 0) return hugeValue(random);
  if (roll < 3) return nested(50 + random(2_000), random(2) === 0);
  return roll < 50 ? hostileText(random) : pick(random, hostileValues);
}

/** `known` has existing values by field name, such as ids in the database. */
export function fittingValue(random: Random, schema: Schema, name: string, known: Readonly<Record<string, readonly unknown[]>>): unknown {
  const meaningful = known[name];
  if (meaningful && random(10) > 0) return pick(random, meaningful);
  if (schema.anyOf) return fittingValue(random, pick(random, schema.anyOf), name, known);
  if (schema.enum) return pick(random, schema.enum);
  switch (schema.type) {
    case "object": {
      const present = Object.entries(schema.properties ?? {}).filter(([key]) => schema.required?.includes(key) || random(2) === 0);
      return Object.fromEntries(present.map(([key, property]) => [key, fittingValue(random, property, key, known)]));
    }
    case "integer": {
      const { minimum = -1_000, maximum = 1_000 } = schema;
      return minimum + random(Math.min(maximum - minimum, 1_000) + 1);
    }
    case "string":
      if (schema.format === "uuid") return randomUUID();
      if (schema.format === "date-time") return new Date(random(1_700_000_000) * 1_000).toISOString();
      return pick(random, ["text", "Ünïcödé \u{1F3DB}", "12345678", "a longer text with several words in it"]);
    default:
      return null;
  }
}

const prototypeKeys = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "isAdmin", "userId", "\u0000", "\ud800"];

/** Removes, adds or replaces one of the object's fields, or replaces the whole value. */
export function spoilValue(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || random(6) === 0) return hostileValue(random);
  const entries = Object.entries(value);
  const victim = random(Math.max(entries.length, 1));
  const roll = random(4);
  if (roll === 0) entries.splice(victim, 1);
  else if (roll === 1 || entries.length === 0) entries.push([pick(random, prototypeKeys), hostileValue(random)]);
  else entries.splice(victim, 1, [entries[victim]?.[0] ?? "", hostileValue(random)]);
  // Without a prototype, "__proto__" is a key like any other and JSON.stringify writes it.
  const spoiled: Record<string, unknown> = Object.create(null);
  for (const [key, item] of entries) spoiled[key] = item;
  return spoiled;
}

/** Turns JSON text into invalid or unusual JSON. */
export function spoilText(random: Random, text: string): string | Buffer {
  const spoilings: (() => string | Buffer)[] = [
    () => text.slice(0, random(text.length + 1)),
    () => `${text}${text}`,
    () => `${text.slice(0, -1)},}`,
    () => text.replace(/"[^"]*"/, "NaN"),
    () => text.replace(/:/, ":1e999,"),
    () => text.replaceAll('"', "'"),
    () => `\uFEFF${text}`,
    () => text.replace("{", '{"__proto__":{"admin":true},'),
    () => text.replace("{", '{"constructor":{"prototype":{"admin":true}},'),
    () => text.replace("{", '{"a":1,"a":2,'),
    () => "[".repeat(100_000),
    () => `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
    () => Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.from([0xff, 0xfe, 0xc0, 0x00]), Buffer.from(text.slice(-2))]),
    () => Buffer.from(text, "utf16le"),
    () => "",
    () => " ",
    () => "\u0000",
    () => "// nothing",
  ];
  return pick(random, spoilings)();
}
