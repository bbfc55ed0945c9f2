/** Compares a language's texts with the English ones. */
type Texts = { [key: string]: string | Texts };

const suffix = /_(zero|one|two|few|many|other)$/;

function flatten(texts: Texts, prefix = ""): Map<string, string> {
  const flat = new Map<string, string>();
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === "string") flat.set(prefix + key, value);
    else for (const [inner, text] of flatten(value, `${prefix}${key}.`)) flat.set(inner, text);
  }
  return flat;
}

/** The `{{name}}` placeholders and `<name>` elements of a text, without `count`, which a plural form may spell out. */
function slots(text: string): string[] {
  const names = [...text.matchAll(/\{\{\s*-?\s*(\w+)[^}]*\}\}|<\/?(\w+)\s*\/?>/g)].map((match) => match[1] ?? `<${match[2]}>`);
  return [...new Set(names)].filter((name) => name !== "count").sort();
}

interface Entry {
  categories: Set<string>;
  texts: string[];
}

/** Groups the texts by key without plural suffix. `_one` and the like is a plural suffix only if English has the key as a plural. */
function group(flat: Map<string, string>, plurals: ReadonlySet<string>): Map<string, Entry> {
  const groups = new Map<string, Entry>();
  for (const [key, text] of flat) {
    const base = key.replace(suffix, "");
    const plural = base !== key && plurals.has(base);
    const name = plural ? base : key;
    const entry = groups.get(name) ?? { categories: new Set<string>(), texts: [] };
    if (plural) entry.categories.add(key.slice(base.length + 1));
    entry.texts.push(text);
    groups.set(name, entry);
  }
  return groups;
}

function pluralsOf(flat: Map<string, string>): Set<string> {
  return new Set([...flat.keys()].filter((key) => key.endsWith("_other")).map((key) => key.replace(suffix, "")));
}

/** Returns one line per difference: keys, placeholders, plural categories, blank texts. `language` is a BCP 47 tag. */
export function differences(language: string, texts: Texts, english: Texts): string[] {
  const reference = flatten(english);
  const plurals = pluralsOf(reference);
  const wanted = group(reference, plurals);
  const found = group(flatten(texts), plurals);
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted().join(" ");
  const lines: string[] = [];
  for (const [key, entry] of wanted) {
    const own = found.get(key);
    if (!own) {
      lines.push(`lacks ${key}`);
      continue;
    }
    const ownCategories = [...own.categories].sort().join(" ");
    if (plurals.has(key) && ownCategories !== categories) lines.push(`${key} has the plurals ${ownCategories} instead of ${categories}`);
    const needed = slots(entry.texts.join(" ")).join(" ");
    const given = slots(own.texts.join(" ")).join(" ");
    if (needed !== given) lines.push(`${key} has the placeholders "${given}" instead of "${needed}"`);
    if (own.texts.some((text) => text.trim() === "")) lines.push(`${key} is blank`);
  }
  for (const key of found.keys()) if (!wanted.has(key)) lines.push(`${key} is unknown`);
  return lines;
}

/**
 * The English keys that no source file uses. A file uses a key if it has it in quotes or matches it with a template:
 * `wallet.kind.${kind}` uses every key of that form. Namespace and plural suffix may be missing.
 */
export function unusedKeys(english: Texts, sources: readonly string[]): string[] {
  const flat = flatten(english);
  const plurals = pluralsOf(flat);
  const text = sources.join("\n");
  const named = new Set([...text.matchAll(/"(?:\w+:)?([\w.]+)"/g)].map((match) => match[1] ?? ""));
  const forms = [...text.matchAll(/`(?:\w+:)?((?:[\w.]|\$\{[^}]*\})+)`/g)]
    .map((match) => (match[1] ?? "").replace(/\$\{[^}]*\}/g, "*"))
    .filter((form) => /\w/.test(form) && form.includes("."))
    .map((form) => new RegExp(`^${form.replaceAll(".", "\\.").replaceAll("*", "[^.]+")}$`));
  const keys = group(flat, plurals).keys();
  return [...keys].filter((key) => !named.has(key) && !forms.some((form) => form.test(key)));
}

export function withoutSlots(text: string): string {
  return text.replace(/\{\{[^}]*\}\}/g, "");
}

/** The texts people read, without placeholders and elements, and without the words that the support widget looks for in a question. */
export function spoken(texts: Texts): string[] {
  const flat = [...flatten(texts)].filter(([key]) => !key.startsWith("keywords."));
  return flat.map(([, text]) => withoutSlots(text).replace(/<[^>]*>/g, ""));
}

/** Languages whose words have many endings. */
const inflected = ["pl", "ro", "ru"];

/**
 * Matches the words that a glossary forbids. A word with a note in brackets is right in other contexts, so it is left to human readers. In
 * alphabetic scripts only whole words count, with the most common endings.
 */
export function wrongWords(language: string, glossary: string): RegExp {
  const cells = glossary.split("\n").flatMap((line) => line.split("|")[3]?.trim() ?? []);
  const entries = cells.slice(2).flatMap((cell) => cell.replace(/ ?[(（][^)）]*[)）]/g, "()").split(/[,、，] ?/));
  const words = entries.filter((entry) => entry !== "" && !entry.includes("()"));
  if (words.length === 0) throw new Error(`the glossary of ${language} forbids no word`);
  const endings = inflected.includes(language) ? "\\p{L}{0,3}" : "(s|ed)?";
  const forms = words.map((word) => {
    if (!/^[\p{Script=Latin}\p{Script=Cyrillic}’ -]+$/u.test(word)) return word;
    return `(?<![\\p{L}-])${word}${word.length > 4 || !inflected.includes(language) ? endings : ""}(?![\\p{L}-])`;
  });
  return new RegExp(forms.join("|"), "giu");
}
